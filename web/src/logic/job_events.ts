import { fieldsOf, listOf, numberOf, textOf } from "../api/decode";
import type { JobEvent } from "../api/types";

export interface StepView {
  name: string;
  state: "waiting" | "running" | "done" | "failed";
  seconds: number | null;
  error: string;
}

export interface PlanRow {
  name: string;
  value: string;
  reason: string;
}

export interface ProgressView {
  step: string;
  stage: string;
  done: number;
  total: number;
  unit: string;
  rate: number | null;
  leftSeconds: number | null;
  loss: number | null;
  epoch: number | null;
}

/** A point of the curve. `at` counts units of work over all stages of training. */
export interface CurvePoint {
  at: number;
  value: number;
}

export interface MetricPoint extends CurvePoint {
  name: string;
  stage: string;
  epoch: number | null;
  best: boolean;
}

/** A figure that is no point of a curve: what an evaluation measured at its end. */
export interface Result {
  name: string;
  value: number;
}

interface Stage {
  name: string;
  offset: number;
  total: number;
}

/** Everything that the page of one job draws, made from its events in order. */
export interface JobView {
  steps: StepView[];
  device: string;
  plan: PlanRow[];
  progress: ProgressView | null;
  loss: CurvePoint[];
  metrics: MetricPoint[];
  results: Result[];
  notes: string[];
  stages: Stage[];
  /** Work done over all stages of training, and what it is counted in. */
  at: number;
  unit: string;
}

export const kCurvePointsMax = 2000;
const kNotesMax = 200;

export function emptyJobView(): JobView {
  return {
    steps: [],
    device: "",
    plan: [],
    progress: null,
    loss: [],
    metrics: [],
    results: [],
    notes: [],
    stages: [],
    at: 0,
    unit: "steps",
  };
}

/** Keeps every second point when there are too many: the curve keeps its shape, memory its bound. */
function bounded(points: CurvePoint[]): CurvePoint[] {
  return points.length <= kCurvePointsMax
    ? points
    : points.filter((_, index) => index % 2 === 0 || index === points.length - 1);
}

function withStep(view: JobView, name: string, change: Partial<StepView>): StepView[] {
  if (name === "") {
    return view.steps;
  }
  const known = view.steps.some((step) => step.name === name);
  const steps = known
    ? view.steps
    : [...view.steps, { name, state: "waiting" as const, seconds: null, error: "" }];
  return steps.map((step) => (step.name === name ? { ...step, ...change } : step));
}

/**
 * The stage's place on the axis; a new stage starts where the one before ends. A stage may turn out
 * shorter than it said at first (a budget of time).
 */
function stageFor(view: JobView, name: string, total: number): [Stage, Stage[]] {
  const known = view.stages.find((stage) => stage.name === name);
  if (known !== undefined) {
    const stage = { ...known, total };
    return [stage, view.stages.map((old) => (old === known ? stage : old))];
  }
  const last = view.stages.at(-1);
  const offset = last === undefined ? 0 : last.offset + last.total;
  const stage = { name, offset, total };
  return [stage, [...view.stages, stage]];
}

function onProgress(view: JobView, event: JobEvent, step: string): JobView {
  const done = numberOf(event["done"]) ?? 0;
  const total = numberOf(event["total"]) ?? 0;
  const progress: ProgressView = {
    step,
    stage: textOf(event["stage"]),
    done,
    total,
    unit: textOf(event["unit"]),
    rate: numberOf(event["rate"]),
    leftSeconds: numberOf(event["left_s"]),
    loss: numberOf(event["loss"]),
    epoch: numberOf(event["epoch"]),
  };
  const next: JobView = { ...view, progress, steps: withStep(view, step, { state: "running" }) };
  if (step !== "train" || progress.loss === null) {
    return next;
  }
  const [stage, stages] = stageFor(view, progress.stage, total);
  const at = stage.offset + done;
  // After a resume the work since the last checkpoint is done again: its old points go.
  const loss = view.loss.filter((point) => point.at < at);
  const metrics = view.metrics.filter((point) => point.at <= at);
  loss.push({ at, value: progress.loss });
  return { ...next, stages, at, unit: progress.unit || view.unit, loss: bounded(loss), metrics };
}

function onMetric(view: JobView, event: JobEvent, step: string): JobView {
  const value = numberOf(event["value"]);
  if (value === null) {
    return view;
  }
  const name = textOf(event["name"]);
  if (step !== "train") {
    const results = view.results.filter((result) => result.name !== name);
    return { ...view, results: [...results, { name, value }] };
  }
  // The best value so far, so this one when it is no less.
  const bestSoFar = numberOf(event["best"]);
  const best = bestSoFar !== null && value >= bestSoFar;
  const point: MetricPoint = {
    name,
    value,
    best,
    at: view.at,
    stage: textOf(event["stage"]) || (view.progress?.stage ?? ""),
    epoch: numberOf(event["epoch"]),
  };
  const others = view.metrics
    .filter((old) => old.name !== name || old.at !== point.at)
    .map((old) => (best && old.name === name ? { ...old, best: false } : old));
  return { ...view, metrics: [...others, point] };
}

function planRows(event: JobEvent): PlanRow[] {
  return listOf(event["parameters"]).map((row) => {
    const fields = fieldsOf(row);
    const value = fields["value"];
    return {
      name: textOf(fields["name"]),
      value: typeof value === "string" ? value : JSON.stringify(value ?? null),
      reason: textOf(fields["reason"]),
    };
  });
}

/** The view after one more event. Events of unknown kinds change nothing. */
export function reduceJob(view: JobView, event: JobEvent): JobView {
  const step = textOf(event.step);
  switch (event.event) {
    case "start":
      return {
        ...view,
        progress: null,
        steps: withStep(view, step, { state: "running", error: "" }),
      };
    case "end": {
      const failed = (numberOf(event["status"]) ?? 0) !== 0;
      return {
        ...view,
        progress: failed ? view.progress : null,
        steps: withStep(view, step, {
          state: failed ? "failed" : "done",
          seconds: numberOf(event["seconds"]),
          error: textOf(event["error"]),
        }),
      };
    }
    case "device":
      return { ...view, device: textOf(event["text"]) };
    case "plan":
      return { ...view, plan: planRows(event) };
    case "progress":
      return onProgress(view, event, step);
    case "metric":
      return onMetric(view, event, step);
    case "note":
      return { ...view, notes: [...view.notes, textOf(event["text"])].slice(-kNotesMax) };
    case "published":
      return {
        ...view,
        notes: [...view.notes, `published as ${textOf(event["model"])}`].slice(-kNotesMax),
      };
    default:
      return view;
  }
}
