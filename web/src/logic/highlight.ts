import { unitsOfSpan, type MarkedSpan } from "./characters";

/** A piece of a passage: inside the best span, a word of the question, both, or neither. */
export interface Piece {
  text: string;
  term: boolean;
  span: boolean;
}

/** Words that stand in every English text; marking them would mark everything. */
const kEnglishStopWords = new Set(
  (
    "a an and are as at be but by can could did do does for from had has have how i if in into is it " +
    "its me my no not of on or our should so such than that the their them then there these they this " +
    "to was we were what when where which who whom whose why will with would you your"
  ).split(" "),
);

/** Scripts written without spaces: their words cannot be told apart, so pairs of characters count. */
const kUnspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** A run of letters and digits, with the English possessive and without other apostrophes (l'hôtel). */
const kWord = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’]s(?![\p{L}\p{N}]))?/gu;

/** The form in which words are compared: no case, no accents, compatibility forms resolved. */
export function fold(word: string): string {
  return word
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(/['’]s$/u, "");
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  return characters.slice(1).map((character, index) => (characters[index] ?? "") + character);
}

export interface Terms {
  words: Set<string>;
  pairs: Set<string>;
}

/** What of the question is worth marking in a passage. */
export function questionTerms(question: string, language = "en"): Terms {
  const terms: Terms = { words: new Set(), pairs: new Set() };
  for (const [word] of question.matchAll(kWord)) {
    const folded = fold(word);
    if (kUnspaced.test(folded)) {
      const pairs = pairsOf(folded);
      (pairs.length > 0 ? pairs : [folded]).forEach((pair) => terms.pairs.add(pair));
    } else if (
      folded !== "" &&
      (folded.length > 1 || /\p{N}/u.test(folded)) &&
      !(language === "en" && kEnglishStopWords.has(folded))
    ) {
      terms.words.add(folded);
    }
  }
  return terms;
}

/** Marks [begin, end) of every term in `text`, in order and without overlap. */
export function termRanges(text: string, terms: Terms): [number, number][] {
  const ranges: [number, number][] = [];
  if (terms.words.size === 0 && terms.pairs.size === 0) {
    return ranges;
  }
  const add = (begin: number, end: number): void => {
    const last = ranges.at(-1);
    if (last !== undefined && begin <= last[1]) {
      last[1] = Math.max(last[1], end);
    } else {
      ranges.push([begin, end]);
    }
  };
  for (const match of text.matchAll(kWord)) {
    const word = match[0];
    if (!kUnspaced.test(word)) {
      if (terms.words.has(fold(word))) {
        add(match.index, match.index + word.length);
      }
      continue;
    }
    const characters = Array.from(word);
    let place = match.index;
    characters.forEach((character, index) => {
      const next = characters[index + 1] ?? "";
      const pair = character + next;
      if (terms.pairs.has(pair)) {
        add(place, place + pair.length);
      } else if (terms.pairs.has(character)) {
        add(place, place + character.length);
      }
      place += character.length;
    });
  }
  return ranges;
}

/** Cuts `text` at the borders of the terms and of the span, whose offsets count characters. */
export function highlight(
  text: string,
  terms: Terms,
  span: MarkedSpan | null | undefined,
): Piece[] {
  const ranges = termRanges(text, terms);
  const [spanBegin, spanEnd] = unitsOfSpan(text, span) ?? [0, 0];
  const borders = new Set([0, text.length, spanBegin, spanEnd, ...ranges.flat()]);
  const sorted = Array.from(borders).sort((left, right) => left - right);
  const pieces: Piece[] = [];
  let range = 0;
  for (let index = 0; index + 1 < sorted.length; ++index) {
    const begin = sorted[index] ?? 0;
    const end = sorted[index + 1] ?? 0;
    while ((ranges[range]?.[1] ?? Infinity) <= begin) {
      ++range;
    }
    const term = (ranges[range]?.[0] ?? Infinity) <= begin;
    pieces.push({
      text: text.slice(begin, end),
      term,
      span: begin >= spanBegin && begin < spanEnd,
    });
  }
  return pieces;
}
