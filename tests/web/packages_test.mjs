// What web/package.json and its lock file promise; runs in web/.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const packages = JSON.parse(readFileSync("package.json", "utf8"));
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));

test("every package is asked for by one exact version, and the lock file has it", () => {
  const wanted = { ...packages.dependencies, ...packages.devDependencies };
  assert.ok(Object.keys(wanted).length > 5);
  for (const [name, version] of Object.entries(wanted)) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
    assert.equal(lock.packages[`node_modules/${name}`].version, version, name);
  }
});

test("the lock file names no registry and has a checksum of everything", () => {
  const entries = Object.entries(lock.packages).filter(([path]) => path !== "");
  for (const [path, entry] of entries) {
    assert.equal(entry.resolved, undefined, path);
    assert.match(entry.integrity, /^sha512-/, path);
  }
});
