import type { JSX } from "preact";

import { formatScore, formatShare } from "../../logic/format";
import type { Result } from "../../logic/job_events";

/** What the evaluation measured, a bar each: all of these metrics lie between 0 and 1. */
export function Results({ results }: { results: Result[] }): JSX.Element | null {
  if (results.length === 0) {
    return null;
  }
  const best = Math.max(...results.map((result) => result.value));
  return (
    <section class="card" aria-labelledby="results-title">
      <h2 id="results-title">Evaluation on held-out questions</h2>
      <table class="job-results">
        <thead class="hidden">
          <tr>
            <th scope="col">Measure</th>
            <th scope="col">Bar</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {results.map(({ name, value }) => (
            <tr key={name} class={value === best ? "job-result-best" : undefined}>
              <th scope="row">{name}</th>
              <td>
                <span class="meter" aria-hidden="true">
                  <span class="meter-fill" style={{ width: formatShare(value).replace(" ", "") }} />
                </span>
              </td>
              <td class="figure">{formatScore(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
