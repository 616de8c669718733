import type { JSX } from "preact";

import type { PlanRow } from "../../logic/job_events";

/** Every parameter of the training, and why it has its value. */
export function Plan({ rows }: { rows: PlanRow[] }): JSX.Element | null {
  if (rows.length === 0) {
    return null;
  }
  return (
    <section class="card table-card" aria-labelledby="plan-title">
      <h2 id="plan-title">Plan</h2>
      <table class="plan">
        <thead>
          <tr>
            <th scope="col">Parameter</th>
            <th scope="col">Value</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">
                <code>{row.name}</code>
              </th>
              <td data-label="Value">
                <code>{row.value}</code>
              </td>
              <td data-label="Why">{row.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
