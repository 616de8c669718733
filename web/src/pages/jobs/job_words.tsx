import type { JSX } from "preact";

import type { Job, JobState } from "../../api/types";

const kKinds: Record<string, string> = {
  supervised: "Supervised",
  coldstart: "Cold start",
  evaluate: "Evaluation",
};

export function kindText(kind: string): string {
  return kKinds[kind] ?? kind;
}

export function StateBadge({ state }: { state: JobState }): JSX.Element {
  return <span class={`badge badge-${state}`}>{state}</span>;
}

/** From the beginning to the end, or to now while it runs; null when nothing is known. */
export function durationSeconds(job: Job, now = Date.now()): number | null {
  if (job.created === null) {
    return null;
  }
  const end = job.ended?.getTime() ?? (job.state === "running" ? now : null);
  return end === null ? null : Math.max(0, (end - job.created.getTime()) / 1000);
}

/** What the steps of a kind are, before the events have told. */
export function stepsOf(kind: string): string[] {
  return kind === "evaluate"
    ? ["prepare", "evaluate"]
    : ["prepare", "train", "evaluate", "publish"];
}
