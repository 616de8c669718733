/** Bytes that the UTF-8 form of a code point takes. */
function utf8Width(point: number): number {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

/**
 * The place in `text`, counted as JavaScript counts (UTF-16 units), of each byte offset of its UTF-8
 * form. `offsets` must rise. An offset inside a character counts as the character's start, one past
 * the end as the end, so that a wrong span can never cut a character in two.
 */
export function unitsOfBytes(text: string, offsets: readonly number[]): number[] {
  const places: number[] = [];
  let bytes = 0;
  let units = 0;
  for (const offset of offsets) {
    while (units < text.length) {
      // Lone surrogates travel as U+FFFD, which is three bytes long, as utf8Width says of them.
      const point = text.codePointAt(units) ?? 0;
      const width = utf8Width(point);
      if (bytes + width > offset) {
        break;
      }
      bytes += width;
      units += point > 0xffff ? 2 : 1;
    }
    places.push(units);
  }
  return places;
}
