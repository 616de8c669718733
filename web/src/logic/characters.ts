/**
 * The place in `text`, counted as JavaScript counts (UTF-16 units), of each offset in characters
 * (code points), as the interface counts. `offsets` must rise; one past the end counts as the end.
 * A pair of surrogates is one character, so a mark can never cut a character in two.
 */
export function unitsOfCharacters(text: string, offsets: readonly number[]): number[] {
  const places: number[] = [];
  let characters = 0;
  let units = 0;
  for (const offset of offsets) {
    while (characters < offset && units < text.length) {
      units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
      ++characters;
    }
    places.push(units);
  }
  return places;
}

/** A part of a text, in characters; `text` says what stands there. */
export interface MarkedSpan {
  text: string;
  start: number;
  end: number;
}

/**
 * Begin and end of the span in UTF-16 units, or null. A mark on the wrong words is worse than none:
 * what the offsets cut out must be the span's own text.
 */
export function unitsOfSpan(
  text: string,
  span: MarkedSpan | null | undefined,
): [number, number] | null {
  if (!span || !(span.start >= 0) || !(span.end > span.start)) {
    return null;
  }
  const [begin = 0, end = 0] = unitsOfCharacters(text, [span.start, span.end]);
  return text.slice(begin, end) === span.text ? [begin, end] : null;
}
