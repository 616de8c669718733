import type { JSX } from "preact";

import { formatCount, formatDuration, formatFigure, formatScore } from "../../logic/format";
import type { ProgressView } from "../../logic/job_events";
import { ProgressBar } from "../../parts/basics";

export function JobProgress({ progress }: { progress: ProgressView | null }): JSX.Element {
  if (progress === null) {
    return <p class="quiet job-wait">Waiting for the next step to say how far it is.</p>;
  }
  const share = progress.total > 0 ? progress.done / progress.total : 0;
  const facts = [
    `${formatCount(progress.done)} of ${formatCount(progress.total)} ${progress.unit}`,
    progress.epoch === null ? "" : `epoch ${formatFigure(progress.epoch)}`,
    progress.rate === null ? "" : `${formatFigure(progress.rate)} ${progress.unit}/s`,
    progress.loss === null ? "" : `loss ${formatScore(progress.loss)}`,
    progress.leftSeconds === null ? "" : `${formatDuration(progress.leftSeconds)} left`,
  ].filter((fact) => fact !== "");
  const name = progress.stage === "" ? progress.step : `${progress.step}, ${progress.stage}`;
  return (
    <div class="job-progress">
      <div class="job-progress-line">
        <strong>{name}</strong>
        <span class="quiet">{facts.join(" · ")}</span>
      </div>
      <ProgressBar share={share} label={`Progress of ${name}`} />
    </div>
  );
}
