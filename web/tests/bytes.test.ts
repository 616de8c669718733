import { describe, expect, it } from "vitest";

import { unitsOfBytes } from "../src/logic/bytes";

describe("unitsOfBytes", () => {
  it("counts ASCII one to one", () => {
    expect(unitsOfBytes("hello", [0, 1, 5])).toEqual([0, 1, 5]);
  });

  it("agrees with the encoder at every character border", () => {
    // One, two, three and four bytes; the last is two UTF-16 units.
    const text = "aé中𝒳 🚲ß–z";
    const encoder = new TextEncoder();
    const characters = Array.from(text);
    const borders = characters.map((_, index) => characters.slice(0, index + 1).join(""));
    const bytes = borders.map((border) => encoder.encode(border).length);
    expect(unitsOfBytes(text, bytes)).toEqual(borders.map((border) => border.length));
  });

  it("takes an offset inside a character as the character's start", () => {
    expect(unitsOfBytes("é🚲", [1, 3, 4, 5, 6])).toEqual([0, 1, 1, 1, 3]);
  });

  it("takes an offset past the end as the end", () => {
    expect(unitsOfBytes("é", [99])).toEqual([1]);
    expect(unitsOfBytes("", [0, 4])).toEqual([0, 0]);
  });

  it("counts a lone surrogate as the three bytes it is sent as", () => {
    expect(unitsOfBytes("\ud800x", [3, 4])).toEqual([1, 2]);
  });
});
