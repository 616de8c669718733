import { describe, expect, it } from "vitest";

import { flatten } from "../src/logic/flatten";
import { linkOf } from "../src/logic/link";

describe("flatten", () => {
  it("names nested values by their path and keeps flat lists whole", () => {
    expect(flatten({ a: { b: 0.5, c: null }, d: [1, "x"], e: [{ f: true }], g: "text" })).toEqual([
      ["a › b", "0.5"],
      ["d", '[1,"x"]'],
      ["e › 0 › f", "true"],
      ["g", "text"],
    ]);
  });

  it("has a bound on rows and on depth", () => {
    expect(flatten(Array.from({ length: 5000 }, () => ({ a: 1 })))).toHaveLength(200);
    let deep: unknown = 1;
    for (let level = 0; level < 100; ++level) {
      deep = { deep };
    }
    expect(flatten(deep)).toHaveLength(1);
    expect(flatten(null)).toEqual([]);
  });
});

describe("links", () => {
  it("are made of web addresses alone", () => {
    expect(linkOf("https://docs.example.org/a b")).toBe("https://docs.example.org/a%20b");
    for (const bad of [
      "javascript:alert(1)",
      " JaVaScRiPt:alert(1)",
      "data:text/html,x",
      "file:///etc",
      "/a",
      "",
      null,
    ]) {
      expect(linkOf(bad)).toBeNull();
    }
  });
});
