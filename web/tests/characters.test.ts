import { describe, expect, it } from "vitest";

import { unitsOfCharacters, unitsOfSpan } from "../src/logic/characters";

describe("unitsOfCharacters", () => {
  it("counts what is in the basic plane one to one", () => {
    expect(unitsOfCharacters("hé中–o", [0, 1, 2, 5])).toEqual([0, 1, 2, 5]);
  });

  it("agrees with the language's own walk at every character", () => {
    const text = "aé中𝒳 🚲ß–z🇩🇪e\u0301";
    const characters = Array.from(text);
    const offsets = characters.map((_, index) => index);
    const expected = offsets.map((offset) => characters.slice(0, offset).join("").length);
    expect(unitsOfCharacters(text, offsets)).toEqual(expected);
  });

  it("takes an offset past the end as the end", () => {
    expect(unitsOfCharacters("🚲", [1, 99])).toEqual([2, 2]);
    expect(unitsOfCharacters("", [0, 4])).toEqual([0, 0]);
  });

  it("counts a lone surrogate as one character", () => {
    expect(unitsOfCharacters("\ud800x", [1, 2])).toEqual([1, 2]);
  });
});

describe("unitsOfSpan", () => {
  const text = "Zurück 🚲 to the dock";

  it("finds the span behind characters of every width", () => {
    expect(unitsOfSpan(text, { text: "to the", start: 9, end: 15 })).toEqual([10, 16]);
  });

  it.each([
    ["counted in bytes", { text: "to the", start: 13, end: 19 }],
    ["of another text", { text: "something", start: 0, end: 9 }],
    ["that is empty", { text: "", start: 3, end: 3 }],
    ["that runs backwards", { text: "x", start: 7, end: 2 }],
    ["before the text", { text: "Zur", start: -1, end: 3 }],
    ["past the text", { text: "the dock!", start: 12, end: 900 }],
    ["without numbers", { text: "dock", start: Number.NaN, end: Number.NaN }],
  ])("gives nothing for a span %s", (_, span) => {
    expect(unitsOfSpan(text, span)).toBeNull();
  });

  it("gives nothing where there is no span", () => {
    expect(unitsOfSpan(text, null)).toBeNull();
    expect(unitsOfSpan(text, undefined)).toBeNull();
  });
});
