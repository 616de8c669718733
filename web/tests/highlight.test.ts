import { describe, expect, it } from "vitest";

import type { MarkedSpan } from "../src/logic/characters";
import { fold, highlight, questionTerms, termRanges } from "../src/logic/highlight";

function marked(text: string, question: string, language = "en"): string[] {
  return termRanges(text, questionTerms(question, language)).map(([begin, end]) =>
    text.slice(begin, end),
  );
}

function spanOf(text: string, part: string): MarkedSpan {
  const start = Array.from(text.slice(0, text.indexOf(part))).length;
  return { text: part, start, end: start + Array.from(part).length };
}

describe("terms", () => {
  it("are whole words, without case, and not stems", () => {
    expect(marked("Docks and a DOCK, docked at the dock.", "Where is the dock?")).toEqual([
      "DOCK",
      "dock",
    ]);
  });

  it("leave out the words that stand in every English text", () => {
    expect(questionTerms("What is the name of the station?").words).toEqual(
      new Set(["name", "station"]),
    );
  });

  it("keep those words in other languages, where they mean something", () => {
    expect(marked("Der Hut ist an", "an", "de")).toEqual(["an"]);
  });

  it("ignore accents and compatibility forms on both sides", () => {
    expect(marked("Das Café, le CAFE, ﬁne", "cafe\u0301 fine")).toEqual(["Café", "CAFE", "ﬁne"]);
    expect(fold("Straße")).toBe(fold("STRASSE"));
  });

  it("find words whatever form of possessive they have", () => {
    expect(marked("The rider's card and the rider’s bicycle", "rider")).toEqual([
      "rider's",
      "rider’s",
    ]);
  });

  it("find words behind an elided article", () => {
    expect(marked("L’hôtel d'une ville", "hotel ville", "fr")).toEqual(["hôtel", "ville"]);
  });

  it("keep numbers of one digit and drop single letters", () => {
    expect(marked("Zone 7, row b", "zone 7 b")).toEqual(["Zone", "7"]);
  });

  it("work by pairs of characters where a script has no spaces", () => {
    expect(marked("自転車を駅に返却する", "自転車の返却")).toEqual(["自転車", "返却"]);
    expect(marked("駅で返す", "駅")).toEqual(["駅"]);
  });

  it("take a question of punctuation alone as no terms", () => {
    expect(marked("anything ?!", "?! …")).toEqual([]);
  });

  it("do not see a question as a pattern", () => {
    expect(marked("a.c abc (dock", "(dock .* [a-z]+")).toEqual(["dock"]);
  });
});

describe("highlight", () => {
  it("gives the text back whole, whatever it marks", () => {
    const text = "Zurück – the bike 🚲 goes to the dock.";
    const pieces = highlight(text, questionTerms("bike dock"), spanOf(text, "bike 🚲 goes"));
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  });

  it("marks the span by characters and the terms inside and outside of it", () => {
    const text = "Zurück – the bike 🚲 goes to the dock.";
    const pieces = highlight(text, questionTerms("bike dock"), spanOf(text, "the bike 🚲 goes"));
    expect(pieces).toEqual([
      { text: "Zurück – ", term: false, span: false },
      { text: "the ", term: false, span: true },
      { text: "bike", term: true, span: true },
      { text: " 🚲 goes", term: false, span: true },
      { text: " to the ", term: false, span: false },
      { text: "dock", term: true, span: false },
      { text: ".", term: false, span: false },
    ]);
  });

  it("cuts a term where the span begins", () => {
    expect(
      highlight("station", questionTerms("station"), { text: "tion", start: 3, end: 7 }),
    ).toEqual([
      { text: "sta", term: true, span: false },
      { text: "tion", term: true, span: true },
    ]);
  });

  it.each([null, undefined, { text: "another", start: 0, end: 3 }])(
    "takes %j as no span",
    (span) => {
      expect(highlight("one two", questionTerms("zzz"), span)).toEqual([
        { text: "one two", term: false, span: false },
      ]);
    },
  );

  it("has nothing to draw for an empty text", () => {
    expect(highlight("", questionTerms("dock"), { text: "x", start: 0, end: 3 })).toEqual([]);
  });
});
