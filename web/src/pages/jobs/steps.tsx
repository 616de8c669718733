import type { JSX } from "preact";

import type { Job } from "../../api/types";
import { formatDuration } from "../../logic/format";
import type { JobView, StepView } from "../../logic/job_events";
import { Icon } from "../../parts/icons";
import { stepsOf } from "./job_words";

const kWords: Record<StepView["state"], string> = {
  waiting: "waiting",
  running: "running",
  done: "done",
  failed: "stopped",
};

/** A step that "runs" in a job that does not was stopped with it. */
function shownState(step: StepView, job: Job): StepView["state"] {
  const stopped = job.state !== "running" && job.state !== "queued" && job.state !== "done";
  const named = stopped && step.name === job.step && step.state === "waiting";
  return (step.state === "running" && stopped) || named ? "failed" : step.state;
}

/** The steps of the job in order, with what became of each. */
export function Steps({ job, view }: { job: Job; view: JobView }): JSX.Element {
  const names = [...stepsOf(job.kind)];
  view.steps.forEach((step) => names.includes(step.name) || names.push(step.name));
  return (
    <ol class="steps" aria-label="Steps">
      {names.map((name) => {
        const known = view.steps.find((step) => step.name === name);
        const step = known ?? { name, state: "waiting" as const, seconds: null, error: "" };
        const state = shownState(step, job);
        return (
          <li
            key={name}
            class={`step step-${state}`}
            aria-current={state === "running" ? "step" : undefined}
          >
            <span class="step-mark" aria-hidden="true">
              {state === "done" && <Icon name="check" />}
            </span>
            <span class="step-name">{name}</span>
            <span class="step-word quiet">
              {state === "done" && step.seconds !== null
                ? formatDuration(step.seconds)
                : kWords[state]}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
