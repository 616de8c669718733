// The page that is inside the program, served by `sibyl serve`: documents by HTTP, then the browser.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { checkAccessible, openBrowser, openPage, picture, requireChromium } from "./browser.mjs";
import { startServer } from "./server.mjs";

const chromium = requireChromium();
const program = process.env.SIBYL_PROGRAM;
assert.ok(program && existsSync(program), "SIBYL_PROGRAM must name the built program");
const models = path.join(path.dirname(fileURLToPath(import.meta.url)), "../data/model");

const documents = [
  {
    id: "rides/ending.html",
    title: "Ending a ride",
    headings: ["Returning a bicycle"],
    text:
      "🚲 A bicycle can be returned at every station – not only at the one where the ride began. When " +
      "every dock is taken, the app adds fifteen minutes without charge.",
    url: "https://docs.example.org/rides/ending.html",
    year: 2024,
  },
  {
    id: "rides/damage.html",
    title: "Damage",
    text: "Report a damaged bicycle before you return it; the workshop looks at it first.",
    year: 2022,
  },
  {
    id: "café.md",
    title: "Cafés",
    text: "Each café near the Straßenbahn sells day cards. Opening hours differ.",
    year: 2023,
  },
];

let browser;
let server;
before(async () => {
  browser = await openBrowser(chromium);
  server = await startServer(program);
});
after(async () => {
  await browser?.close();
  const { code, output } = (await server?.stop()) ?? { code: 0 };
  assert.equal(code, 0, output);
});

async function request(method, address, body, type = "application/json") {
  const reply = await fetch(server.address + address, {
    method,
    body,
    headers: { "Content-Type": type },
  });
  const text = await reply.text();
  assert.ok(reply.ok, `${method} ${address}: ${reply.status} ${text}`);
  return JSON.parse(text);
}

test("an empty server says what to do first, under a strict policy", async () => {
  const { page, close } = await openPage(browser, server.address);
  const reply = await page.goto(`${server.address}/`);
  assert.match(reply.headers()["content-security-policy"], /default-src '(self|none)'/);
  assert.doesNotMatch(reply.headers()["content-security-policy"], /unsafe/);
  assert.equal(reply.headers()["content-encoding"], "gzip");
  await page.getByRole("heading", { name: "No documents yet" }).waitFor();
  await checkAccessible(page, "the empty server");
  await close();
});

test("documents added by HTTP are answers in the page, words marked", async () => {
  const lines = documents.map((document) => JSON.stringify(document)).join("\n");
  const added = await request(
    "POST",
    "/v1/collections/bikes/documents",
    lines,
    "application/x-ndjson",
  );
  assert.equal(added.added, documents.length);
  const { page, close } = await openPage(browser, server.address);
  await page.goto(`${server.address}/`);
  await page.getByRole("searchbox", { name: "Question" }).fill("What if every dock is taken?");
  await page.keyboard.press("Enter");
  const first = page.getByRole("article", { name: "Answer 1" });
  await first.waitFor();
  assert.match(await first.innerText(), /adds fifteen minutes without charge/);
  assert.deepEqual(
    new Set(await first.locator(".passage mark").allTextContents()),
    new Set(["every", "dock", "taken"]),
  );
  const link = first.getByRole("link", { name: /Ending a ride/ });
  assert.equal(await link.getAttribute("href"), documents[0].url);
  await page.getByText("Keyword search alone").waitFor();
  // The best span, cut out by its offsets, is what the server says that it is.
  const query = JSON.stringify({ question: "What if every dock is taken?", top: 1 });
  const [answer] = (await request("POST", "/v1/collections/bikes/query", query)).answers;
  if (answer.span) {
    const shown = (await first.locator(".best-span").allTextContents()).join("");
    assert.equal(shown, answer.span.text);
  }
  await picture(page, "server-answers");
  await checkAccessible(page, "the answers");
  await close();
});

test("a filter holds, and a wrong one is told", async () => {
  const { page, close } = await openPage(browser, server.address, { allowedFaults: ["400"] });
  await page.goto(`${server.address}/#/ask?collection=bikes&q=bicycle`);
  await page.getByRole("article", { name: "Answer 2" }).waitFor();
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("Filter").fill("year < 2023");
  await page.keyboard.press("Enter");
  await page.getByText("1 answer in").waitFor();
  assert.match(await page.getByRole("article").innerText(), /Damage/);
  await page.getByLabel("Filter").fill("year <");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await close();
});

test("a judgement is kept by the server", async () => {
  const { page, close } = await openPage(browser, server.address);
  await page.goto(`${server.address}/#/ask?collection=bikes&q=damaged+bicycle`);
  await page
    .getByRole("article", { name: "Answer 1" })
    .getByRole("button", { name: "Good answer" })
    .click();
  await page.getByText("Kept for training").waitFor();
  const { feedback } = await request("GET", "/v1/feedback?collection=bikes");
  assert.equal(feedback.length, 1);
  assert.equal(feedback[0].question, "damaged bicycle");
  assert.equal(feedback[0].answer_id, "rides/damage.html");
  assert.equal(feedback[0].good, true);
  await close();
});

test("a collection changes to another model, and answers explain all retrievals", async () => {
  server.command("models", "import", path.join(models, "bert"), "--name", "tiny");
  const { page, close } = await openPage(browser, server.address);
  await page.goto(`${server.address}/#/models`);
  await page.getByRole("article", { name: "Model tiny@1" }).waitFor();
  await page.getByRole("button", { name: "Training record" }).click();
  await page.getByText("nothing is recorded about its training").waitFor();
  await checkAccessible(page, "the models");
  await page.goto(`${server.address}/#/collections/bikes`);
  await page.getByRole("combobox", { name: "Use" }).selectOption("tiny@1");
  await page.getByRole("button", { name: "Switch" }).click();
  await page.locator(".current-model", { hasText: "tiny@1" }).waitFor();
  await checkAccessible(page, "the collection");
  await page.goto(`${server.address}/#/ask?collection=bikes&q=return+a+bicycle`);
  const first = page.getByRole("article", { name: "Answer 1" });
  await first.getByRole("button", { name: "Why this answer" }).click();
  assert.equal(await first.getByRole("table").getByRole("row").count(), 5);
  await close();
});

test("a job runs, its page follows it to the end, and the log is there", async () => {
  const pairs = documents
    .slice(0, 2)
    .map(({ id, title }) => JSON.stringify({ question: title, answer_id: id }));
  const upload = await request(
    "POST",
    "/v1/uploads?name=questions.jsonl",
    pairs.join("\n"),
    "application/octet-stream",
  );
  const job = await request(
    "POST",
    "/v1/jobs",
    JSON.stringify({
      kind: "evaluate",
      name: "check",
      base: "tiny",
      data: { collection: "bikes" },
      evaluate: { questions: upload.id, fit_weights: false, compare_base: false },
    }),
  );
  const { page, close } = await openPage(browser, server.address);
  await page.goto(`${server.address}/#/jobs/${job.id}`);
  await page.getByRole("heading", { name: /check done/ }).waitFor({ timeout: 60_000 });
  await page.locator(".step-done", { hasText: "prepare" }).waitFor();
  await page.locator(".step-done", { hasText: "evaluate" }).waitFor();
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("region", { name: "Lines of the log" }).waitFor();
  await picture(page, "server-job");
  await checkAccessible(page, "the job");
  await page.goto(`${server.address}/#/jobs`);
  await page.getByRole("row", { name: /check.*done/ }).waitFor();
  await close();
});
