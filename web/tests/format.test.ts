import { describe, expect, it } from "vitest";

import {
  formatBytes,
  formatCount,
  formatDuration,
  formatFigure,
  formatMilliseconds,
  formatScore,
  formatShare,
  plural,
} from "../src/logic/format";

describe("scores", () => {
  it.each([
    [0.91344, "0.913"],
    [1, "1.000"],
    [0, "0.000"],
    [-0.25, "−0.250"],
    [-0.0001, "0.000"],
    [12.34567, "12.346"],
    [1234.56, "1234.6"],
    [null, "–"],
    [undefined, "–"],
    [Number.NaN, "–"],
    [Number.POSITIVE_INFINITY, "–"],
  ])("%s is %s", (value, text) => {
    expect(formatScore(value)).toBe(text);
  });
});

describe("figures", () => {
  it.each([
    [0.00003, "3.00e−5"],
    [0.67134, "0.6713"],
    [4407, "4,407"],
    [-0.5, "−0.5"],
    [2.5e9 + 0.5, "2.50e+9"],
  ])("%s is %s", (value, text) => {
    expect(formatFigure(value)).toBe(text);
  });
});

describe("sizes, times and counts", () => {
  it("use the unit that reads best", () => {
    expect([0, 1023, 1024, 90_868_376, 5 * 1024 ** 4, -1].map(formatBytes)).toEqual([
      "0 B",
      "1023 B",
      "1.0 KiB",
      "86.7 MiB",
      "5.0 TiB",
      "–",
    ]);
    expect([0.2, 59.4, 61, 3600 * 30 + 61, -3, null].map(formatDuration)).toEqual([
      "under a second",
      "59 s",
      "1 min 1 s",
      "30 h 1 min",
      "–",
      "–",
    ]);
    expect([0.42, 12.4, 2345].map(formatMilliseconds)).toEqual(["0.4 ms", "12 ms", "2.3 s"]);
  });

  it("keep shares between nothing and all", () => {
    expect([-1, 0.254, 7].map(formatShare)).toEqual(["0 %", "25 %", "100 %"]);
  });

  it("count in words", () => {
    expect([plural(1, "answer"), plural(0, "answer"), plural(1412, "document")]).toEqual([
      "1 answer",
      "0 answers",
      "1,412 documents",
    ]);
    expect(formatCount(null)).toBe("–");
  });
});
