// Headless Chromium with everything watched that a page of ours must not do.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const web = createRequire(path.join(here, "../../web/package.json"));
const { chromium } = web("playwright-core");
const axeSource = readFileSync(web.resolve("axe-core/axe.min.js"), "utf8");

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Ends the program as "skipped" (77 is ctest's sign for it) when there is no browser. */
export function requireChromium() {
  const program = process.env.SIBYL_CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(program)) {
    console.log(`SKIPPED: ${program} is not here; install Debian's package chromium`);
    process.exit(77);
  }
  return program;
}

export async function openBrowser(program) {
  return chromium.launch({ executablePath: program, args: flags, timeout: 60_000 });
}

/** A page that records requests to other hosts, console errors, and refusals of the content policy. */
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({
    viewport: options.viewport ?? { width: 1200, height: 860 },
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: "reduce",
    deviceScaleFactor: options.scale ?? 1,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults = [];
  const allowed = new Set(options.allowedFaults ?? []);
  const fault = (text) => {
    if (![...allowed].some((part) => text.includes(part))) {
      faults.push(text);
    }
  };
  page.on("request", (request) => {
    if (!request.url().startsWith(`${address}/`)) {
      faults.push(`request to another host: ${request.url()}`);
    }
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      fault(`console ${message.type()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => fault(`error in the page: ${error.message}`));
  const close = async () => {
    await context.close();
    assert.deepEqual(faults, []);
  };
  return { page, close };
}

/** Fails with the rule, the element and the help of every violation that axe-core finds. */
export async function checkAccessible(page, what) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return result.violations.map((violation) => ({
      rule: violation.id,
      help: violation.help,
      nodes: violation.nodes.map((node) => `${node.target.join(" ")}: ${node.failureSummary}`),
    }));
  });
  assert.deepEqual(found, [], `${what} is not accessible`);
}

/** Nothing may stick out of a narrow screen sideways. */
export async function checkNoSidewaysScroll(page, what) {
  const [content, screen] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(content <= screen, `${what}: ${content} pixels of content on ${screen}`);
}

/** Saves a picture when SIBYL_PICTURES names a folder; a test does not need one. */
export async function picture(page, name, options = {}) {
  const folder = process.env.SIBYL_PICTURES;
  if (folder) {
    await page.screenshot({ path: path.join(folder, `${name}.png`), ...options });
  }
}
