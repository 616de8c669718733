import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { Span } from "../../api/types";
import { unitsOfSpan } from "../../logic/characters";
import { highlight, type Piece, type Terms } from "../../logic/highlight";

/** Passages longer than this are folded; the best span is never cut off. */
export const kShownUnits = 700;

function PieceView({ piece }: { piece: Piece }): JSX.Element {
  return piece.term ? <mark>{piece.text}</mark> : <>{piece.text}</>;
}

/** The pieces of the span stand in one element: its ground lies under all of its marks. */
function PieceList({ pieces }: { pieces: Piece[] }): JSX.Element {
  const draw = (some: Piece[]): JSX.Element[] =>
    some.map((piece, index) => <PieceView key={index} piece={piece} />);
  const begin = pieces.findIndex((piece) => piece.span);
  if (begin < 0) {
    return <>{draw(pieces)}</>;
  }
  const end = pieces.findLastIndex((piece) => piece.span) + 1;
  return (
    <>
      {draw(pieces.slice(0, begin))}
      <span class="best-span">{draw(pieces.slice(begin, end))}</span>
      {draw(pieces.slice(end))}
    </>
  );
}

function shownUnits(text: string, span: Span | null | undefined): number {
  const [, spanEnd] = unitsOfSpan(text, span) ?? [0, 0];
  const wanted = Math.max(kShownUnits, spanEnd);
  if (text.length <= wanted * 1.2) {
    return text.length;
  }
  const space = text.slice(0, wanted).search(/\s\S*$/); // not in the middle of a word
  return Math.max(space > wanted * 0.8 ? space : wanted, spanEnd);
}

function cut(pieces: Piece[], units: number): Piece[] {
  const kept: Piece[] = [];
  let left = units;
  for (const piece of pieces) {
    if (left <= 0) {
      break;
    }
    kept.push({ ...piece, text: piece.text.slice(0, left) });
    left -= piece.text.length;
  }
  return kept;
}

export function Passage(props: {
  text: string;
  span: Span | null | undefined;
  terms: Terms;
}): JSX.Element {
  const { text, span, terms } = props;
  const [whole, setWhole] = useState(false);
  const pieces = useMemo(() => highlight(text, terms, span), [text, terms, span]);
  const units = shownUnits(text, span);
  const folded = units < text.length;
  const shown = folded && !whole ? cut(pieces, units) : pieces;
  return (
    <div class="passage">
      <p>
        <PieceList pieces={shown} />
        {folded && !whole && "…"}
      </p>
      {folded && (
        <button
          type="button"
          class="button button-quiet"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
        >
          {whole ? "Show less" : "Show the whole passage"}
        </button>
      )}
    </div>
  );
}
