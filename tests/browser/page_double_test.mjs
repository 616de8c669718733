// The page in a real browser against the double of the server (double.mjs): every place and state.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  checkAccessible,
  checkNoSidewaysScroll,
  openBrowser,
  openPage,
  picture,
  requireChromium,
} from "./browser.mjs";
import { startDouble } from "./double.mjs";

const program = requireChromium();
const dist = process.env.SIBYL_WEB_DIST;
assert.ok(dist, "SIBYL_WEB_DIST must name the built page");
const question = "What happens when every dock of the station is taken?";

let browser;
let double;
before(async () => {
  browser = await openBrowser(program);
  double = await startDouble(dist);
});
after(async () => {
  await browser?.close();
  await double?.stop();
});

async function ask(page, text) {
  await page.getByRole("searchbox", { name: "Question" }).fill(text);
  await page.keyboard.press("Enter");
}

test("a question shows passages with marked words, the span and scores", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/`);
  await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
  await picture(page, "start");
  await checkAccessible(page, "the start");
  await ask(page, question);
  const first = page.getByRole("article", { name: "Answer 1" });
  await first.waitFor();
  assert.equal(await page.getByRole("article").count(), 3);
  const marks = new Set(await first.locator("mark").allTextContents());
  assert.deepEqual(marks, new Set(["every", "station", "dock", "taken"]));
  // The span's offsets count characters; the text before it holds one of two UTF-16 units.
  assert.equal(
    (await first.locator(".best-span").allTextContents()).join(""),
    "the app – or the café beside the station – adds fifteen minutes without charge",
  );
  assert.equal(
    await first.getByRole("link").getAttribute("href"),
    "https://docs.example.org/rides/ending.html#full",
  );
  assert.match(await first.locator(".heading-path").innerText(), /Returning a bicycle/);
  await page.getByText("3 answers in 12 ms").waitFor();
  await picture(page, "answers");
  await checkAccessible(page, "the answers");
  await page.getByRole("switch", { name: "Explain scores" }).check();
  assert.equal(await page.getByRole("table", { name: "Score of each retrieval" }).count(), 3);
  await page.getByText("4*document").waitFor();
  await picture(page, "explain");
  await checkAccessible(page, "the scores");
  assert.equal(double.state.queries.at(-1).question, question);
  await close();
});

test("an address with a question asks it, and Back returns to the one before", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/#/ask?collection=handbook&q=first`);
  await page.getByRole("article", { name: "Answer 1" }).waitFor();
  await ask(page, "second");
  await page.waitForURL(/q=second/);
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("input[type=search]").value === "first");
  await close();
});

test("judgements reach the server and can be changed", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/#/ask?collection=handbook&q=dock`);
  const first = page.getByRole("article", { name: "Answer 1" });
  await first.getByRole("button", { name: "Good answer" }).click();
  await first.getByText("Kept for training").waitFor();
  await first.getByRole("button", { name: "Bad answer" }).click();
  await first.getByRole("button", { name: "Bad answer", pressed: true }).waitFor();
  const row = { collection: "handbook", question: "dock", passage_id: "rides/ending.html#0" };
  assert.deepEqual(double.state.feedback, [
    { ...row, good: true },
    { ...row, good: false },
  ]);
  await close();
});

test("a wrong filter is told with its field; no answer and no model are said", async () => {
  const { page, close } = await openPage(browser, double.address, { allowedFaults: ["400"] });
  await page.goto(`${double.address}/#/ask?collection=handbook&q=dock`);
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("Filter").fill("year !! 2");
  await page.keyboard.press("Tab");
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.innerText(), /position 8[^]*Field: filter/);
  await picture(page, "problem");
  await checkAccessible(page, "the problem");
  await page.getByLabel("Filter").fill("");
  await page.getByLabel("Answers").selectOption("10");
  await page.getByRole("article", { name: "Answer 1" }).waitFor();
  await ask(page, "nothing at all");
  await page.getByRole("heading", { name: "No answer found" }).waitFor();
  await page.getByRole("combobox", { name: "Collection" }).selectOption("notes");
  await page.getByText("Keyword search alone").waitFor();
  await checkAccessible(page, "no answer");
  await close();
});

test("the keyboard alone asks, and readers hear where they are", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/#/models`);
  await page.getByRole("heading", { name: "Models" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "To the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.getByRole("link", { name: "Jobs" }).click();
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
  await page.waitForFunction(() => document.activeElement.tagName === "H1");
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await page.getByRole("searchbox").waitFor();
  await page.locator("h1").focus();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "question");
  await page.keyboard.type("dock");
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "Answer 1" }).waitFor();
  await close();
});

test("collections are listed, and a model switch shows how far it is", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/#/collections`);
  await page.getByRole("row", { name: /handbook/ }).waitFor();
  await picture(page, "collections");
  await checkAccessible(page, "the collections");
  await page.getByRole("link", { name: "handbook", exact: true }).click();
  await page.getByRole("heading", { name: "Model", exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Change to" }).selectOption("handbook@2");
  await picture(page, "collection");
  await page.getByRole("button", { name: "Switch" }).click();
  await page.getByRole("progressbar").waitFor();
  await picture(page, "switching");
  await checkAccessible(page, "the switch");
  await page.locator(".current-model", { hasText: "handbook@2" }).waitFor();
  await close();
});

test("models show their record, and another can be made the default", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/#/models`);
  const card = page.getByRole("article", { name: "Model handbook@2" });
  await card.getByRole("button", { name: "Training record" }).click();
  await card.getByText("validation › ndcg_at_10").waitFor();
  await card.getByText("0.6713").waitFor();
  await picture(page, "models");
  await checkAccessible(page, "the models");
  await card.getByRole("button", { name: "Make default: handbook" }).click();
  await card.getByText("default", { exact: true }).waitFor();
  assert.deepEqual(
    double.state.models.filter((model) => model.default).map((model) => model.name),
    ["handbook"],
  );
  await close();
});

test("a running job draws its curve as it goes, and can be cancelled and resumed", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/#/jobs`);
  await page.getByRole("row", { name: /words/ }).waitFor();
  await picture(page, "jobs");
  await checkAccessible(page, "the jobs");
  await page.getByRole("link", { name: "handbook" }).first().click();
  await page.getByRole("heading", { name: "Loss" }).waitFor();
  const bar = page.getByRole("progressbar");
  const before = Number(await bar.getAttribute("aria-valuenow"));
  await page.getByText("device: cpu (8 threads, AVX2)").waitFor();
  await page.getByText("the memory of this machine holds 64 passages").waitFor();
  await page.waitForFunction(
    (share) => Number(document.querySelector("[role=progressbar]").ariaValueNow) > share + 5,
    before,
  );
  assert.ok((await page.locator(".chart canvas").count()) >= 2);
  const inked = await page
    .locator(".chart canvas")
    .first()
    .evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value, index) => index % 4 === 3 && value > 0);
    });
  assert.ok(inked, "the curve is drawn");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("prepare: 2,830 structural pairs").waitFor();
  await picture(page, "job", { fullPage: true });
  await checkAccessible(page, "the job");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: /cancelled/ }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("heading", { name: /running/ }).waitFor();
  await close();
});

test("a failed job says which step and why", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/#/jobs/words-20260520-080000-0042`);
  const alert = page.getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.innerText(), /prepare failed[^]*line 17/);
  await picture(page, "failed");
  await checkAccessible(page, "the failed job");
  await close();
});

test("training starts from the page, with pairs sent as a file", async () => {
  const { page, close } = await openPage(browser, double.address, { allowedFaults: ["400"] });
  await page.goto(`${double.address}/#/jobs`);
  await page.getByRole("button", { name: "Train a model" }).click();
  await page.getByRole("combobox", { name: "Collection" }).selectOption("handbook");
  await page.getByLabel(/From pairs/).check();
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Choose a file of questions with their answers").waitFor();
  await checkAccessible(page, "the form with an error");
  const pairs = '{"question": "Dock taken?", "answer_id": "rides/ending.html"}\n';
  const file = { name: "pairs.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(pairs) };
  await page.getByLabel(/Questions with answers/).setInputFiles(file);
  await page.getByLabel("Start from").selectOption("minilm");
  await page.getByLabel("Minutes").fill("20");
  await page.getByLabel("Name of the model").fill("refused");
  await picture(page, "train");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("is in use").waitFor();
  await page.getByLabel("Name of the model").fill("rides");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: /rides/ }).waitFor();
  assert.equal(double.state.uploads.at(-1), pairs);
  assert.deepEqual(double.state.submitted, [
    {
      kind: "supervised",
      name: "rides",
      data: { collection: "handbook", pairs: "5feceb66.jsonl" },
      base: "minilm",
      train: { budget_minutes: 20 },
      deploy: { collection: "handbook" },
    },
  ]);
  await close();
});

test("a phone and a dark screen show everything", async () => {
  const phone = { viewport: { width: 360, height: 740 }, colorScheme: "dark" };
  const { page, close } = await openPage(browser, double.address, phone);
  const places = {
    ask: "#/ask?collection=handbook&q=every+dock+taken",
    collections: "#/collections",
    collection: "#/collections/handbook",
    models: "#/models",
    jobs: "#/jobs",
    job: "#/jobs/handbook-20260528-194000-91ab",
  };
  for (const [name, hash] of Object.entries(places)) {
    await page.goto(`${double.address}/${hash}`);
    await page.locator(".card").first().waitFor();
    if (name === "job") {
      await page.getByRole("heading", { name: "Plan" }).waitFor();
      await page.getByRole("row", { name: /trained blend nDCG@10 0\.702/ }).waitFor();
    }
    await checkNoSidewaysScroll(page, name);
    await checkAccessible(page, `${name} on a dark phone`);
    await picture(page, `phone-${name}`, { fullPage: true });
  }
  await close();
});

test("colours can be chosen, and the choice is kept", async () => {
  const { page, close } = await openPage(browser, double.address);
  await page.goto(`${double.address}/`);
  const light = await page.evaluate(
    () => getComputedStyle(document.documentElement).backgroundColor,
  );
  const changed = (old) => getComputedStyle(document.documentElement).backgroundColor !== old;
  await page.getByRole("button", { name: /Change to: light/ }).click();
  await page.getByRole("button", { name: /Change to: dark/ }).click();
  await page.waitForFunction(changed, light);
  await page.reload();
  await page.getByRole("button", { name: /Colours: dark/ }).waitFor();
  await page.waitForFunction(changed, light);
  await close();
});

test("an empty server says what to do first", async () => {
  const empty = await startDouble(dist, { empty: true });
  const { page, close } = await openPage(browser, empty.address);
  for (const [hash, heading, command] of [
    ["#/ask", "No documents yet", "sibyl add"],
    ["#/collections", "No collections yet", "sibyl add"],
    ["#/models", "No models yet", "sibyl models import"],
    ["#/jobs", "No jobs yet", "sibyl train"],
  ]) {
    await page.goto(`${empty.address}/${hash}`);
    await page.getByRole("heading", { name: heading }).waitFor();
    assert.match(await page.locator(".command").innerText(), new RegExp(command));
    await checkAccessible(page, `an empty ${hash}`);
  }
  await picture(page, "empty");
  await close();
  await empty.stop();
});

test("a server with keys asks for one, and refuses a wrong one", async () => {
  const locked = await startDouble(dist, { key: "open-sesame" });
  const { page, close } = await openPage(browser, locked.address, { allowedFaults: ["401"] });
  await page.goto(`${locked.address}/`);
  await page.getByLabel("API key").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("The server does not know this key.").waitFor();
  await checkAccessible(page, "the key form");
  await picture(page, "key");
  await page.getByLabel("API key").fill("open-sesame");
  await page.keyboard.press("Enter");
  await page.getByRole("searchbox").waitFor();
  await close();
  await locked.stop();
});

test("a server that went away is said, and asking again works when it is back", async () => {
  const short = await startDouble(dist);
  const { page, close } = await openPage(browser, short.address, { allowedFaults: ["ERR_"] });
  await page.goto(`${short.address}/#/ask?collection=handbook&q=dock`);
  await page.getByRole("article", { name: "Answer 1" }).waitFor();
  await short.stop();
  await ask(page, "station");
  await page.getByText("The server does not answer").waitFor();
  await checkAccessible(page, "no server");
  await close();
});
