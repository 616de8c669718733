import type { JSX } from "preact";

import { formatScore } from "../../logic/format";
import type { JobView, MetricPoint } from "../../logic/job_events";
import { Chart } from "./chart";

function metricTitle(name: string): string {
  return name.replace(/^ndcg_at_/, "nDCG@").replace(/_/g, " ");
}

function MetricTable({ points }: { points: MetricPoint[] }): JSX.Element {
  return (
    <details class="chart-table">
      <summary>As a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col" class="figure">
              Epoch
            </th>
            <th scope="col" class="figure">
              Value
            </th>
          </tr>
        </thead>
        <tbody>
          {points.map((point, index) => (
            <tr key={index}>
              <td data-label="Stage">{point.stage || "start"}</td>
              <td class="figure" data-label="Epoch">
                {point.epoch ?? index}
              </td>
              <td class="figure" data-label="Value">
                {formatScore(point.value)}
                {point.best && <span class="badge badge-done">best</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function LossCurve({ view }: { view: JobView }): JSX.Element | null {
  const last = view.loss.at(-1);
  const { unit } = view;
  return last === undefined ? null : (
    <section class="card" aria-labelledby="loss-title">
      <div class="card-head">
        <h2 id="loss-title">Loss</h2>
        <strong class="chart-figure">{formatScore(last.value)}</strong>
      </div>
      <Chart
        points={view.loss}
        axis={unit}
        colour="--series-1"
        dots={false}
        label={`Loss over ${unit}; last value ${formatScore(last.value)}`}
      />
    </section>
  );
}

function MetricCurve(props: { name: string; points: MetricPoint[]; unit: string }): JSX.Element {
  const { name, points, unit } = props;
  const best = points.find((point) => point.best) ?? points.at(-1);
  const title = metricTitle(name);
  const id = `metric-${name.replace(/[^a-z0-9]/gi, "-")}`;
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title} on held-out questions</h2>
        <strong class="chart-figure">{formatScore(best?.value)}</strong>
      </div>
      <Chart
        points={points}
        axis={unit}
        colour="--series-2"
        dots
        label={`${title} on held-out questions; best value ${formatScore(best?.value)}`}
      />
      <MetricTable points={points} />
    </section>
  );
}

/** The live curves of the training: loss, and each metric measured on held-out questions. */
export function Curves({ view }: { view: JobView }): JSX.Element | null {
  const names = Array.from(new Set(view.metrics.map((point) => point.name)));
  if (view.loss.length === 0 && names.length === 0) {
    return null;
  }
  return (
    <div class="two-columns">
      <LossCurve view={view} />
      {names.map((name) => (
        <MetricCurve
          key={name}
          name={name}
          unit={view.unit}
          points={view.metrics.filter((point) => point.name === name)}
        />
      ))}
    </div>
  );
}
