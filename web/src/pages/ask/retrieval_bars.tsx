import type { JSX } from "preact";

import type { RetrievalScore } from "../../api/types";
import { formatScore } from "../../logic/format";

const kNames: Record<string, string> = {
  document: "Document",
  headings: "Headings",
  chunks: "Best chunk",
  bm25: "BM25",
};
const kOrder = ["document", "headings", "chunks", "bm25"];

function placeOf(name: string): number {
  const place = kOrder.indexOf(name);
  return place < 0 ? kOrder.length : place;
}

/** What each retrieval thinks of the answer: its score as a bar, and its rank in its own list. */
export function RetrievalBars(props: { retrievals: Record<string, RetrievalScore> }): JSX.Element {
  const rows = Object.entries(props.retrievals).sort(
    ([left], [right]) => placeOf(left) - placeOf(right),
  );
  return (
    <table class="retrievals">
      <caption class="hidden">Score of each retrieval</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">Retrieval</th>
          <th scope="col">Bar</th>
          <th scope="col">Score</th>
          <th scope="col">Rank</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, retrieval]) => (
          <tr key={name}>
            <th scope="row">{kNames[name] ?? name}</th>
            <td class="retrieval-bar">
              <span class="meter" aria-hidden="true">
                <span
                  class={`meter-fill meter-${placeOf(name)}`}
                  style={{ width: `${Math.min(1, Math.max(0, retrieval.score)) * 100}%` }}
                />
              </span>
            </td>
            <td class="figure">{formatScore(retrieval.score)}</td>
            <td class="figure quiet">{retrieval.rank ? `rank ${retrieval.rank}` : "not listed"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
