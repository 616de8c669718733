import { describe, expect, it } from "vitest";

import type { JobEvent } from "../src/api/types";
import { emptyJobView, kCurvePointsMax, reduceJob, type JobView } from "../src/logic/job_events";

function after(...events: JobEvent[]): JobView {
  return events.reduce(reduceJob, emptyJobView());
}

function progress(done: number, loss: number, stage = "labels", total = 100): JobEvent {
  return {
    step: "train",
    event: "progress",
    stage,
    done,
    total,
    unit: "steps",
    rate: 2,
    left_s: 5,
    loss,
  };
}

function metric(value: number, epoch: number, best = value): JobEvent {
  return { step: "train", event: "metric", name: "ndcg_at_10", value, epoch, best };
}

describe("steps", () => {
  it("run, end, and say why they failed", () => {
    const view = after(
      { step: "prepare", event: "start" },
      { step: "prepare", event: "end", status: 0, seconds: 3 },
      { step: "train", event: "start" },
      { step: "train", event: "end", status: 69, seconds: 1, error: "no GPU" },
    );
    expect(view.steps).toEqual([
      { name: "prepare", state: "done", seconds: 3, error: "" },
      { name: "train", state: "failed", seconds: 1, error: "no GPU" },
    ]);
  });

  it("that are run again forget the failure", () => {
    const view = after(
      { step: "train", event: "end", status: 75, seconds: 1, error: "interrupted" },
      { step: "train", event: "start" },
    );
    expect(view.steps).toEqual([{ name: "train", state: "running", seconds: 1, error: "" }]);
  });

  it("hold the progress of the one that runs, and none when it is done", () => {
    const running = after({ step: "train", event: "start" }, progress(40, 1.5));
    expect(running.progress).toMatchObject({
      step: "train",
      done: 40,
      total: 100,
      rate: 2,
      leftSeconds: 5,
    });
    expect(reduceJob(running, { step: "train", event: "end", status: 0 }).progress).toBeNull();
  });
});

describe("the curve", () => {
  it("grows with each loss, and steps without one add nothing", () => {
    const view = after(progress(1, 2), progress(2, 1.5), {
      step: "evaluate",
      event: "progress",
      done: 5,
      total: 9,
      unit: "questions",
    });
    expect(view.loss).toEqual([
      { at: 1, value: 2 },
      { at: 2, value: 1.5 },
    ]);
    expect(view.progress?.unit).toBe("questions");
    expect(view.unit).toBe("steps");
  });

  it("puts a second stage after the first", () => {
    const view = after(
      progress(50, 2, "cold", 50),
      metric(0.6, 1),
      progress(10, 1, "labels", 80),
      metric(0.7, 1),
    );
    expect(view.loss.map((point) => point.at)).toEqual([50, 60]);
    expect(view.metrics.map(({ at, stage, best }) => [at, stage, best])).toEqual([
      [50, "cold", false],
      [60, "labels", true],
    ]);
  });

  it("marks the best measurement, which need not be the last", () => {
    const view = after(
      progress(10, 3),
      metric(0.5, 1),
      progress(20, 2),
      metric(0.7, 2),
      progress(30, 1),
      metric(0.6, 3, 0.7),
    );
    expect(view.metrics.map((point) => point.best)).toEqual([false, true, false]);
  });

  it("starts the next stage where a shortened one really ended", () => {
    const view = after(
      progress(10, 3, "cold", 100),
      progress(20, 2, "cold", 20),
      progress(5, 1, "labels", 50),
    );
    expect(view.loss.map((point) => point.at)).toEqual([10, 20, 25]);
  });

  it("goes back when training resumes from a checkpoint", () => {
    const view = after(
      progress(10, 3),
      progress(20, 2),
      metric(0.5, 1),
      progress(30, 1.5),
      metric(0.6, 2),
      progress(20, 2.1),
    );
    expect(view.loss).toEqual([
      { at: 10, value: 3 },
      { at: 20, value: 2.1 },
    ]);
    expect(view.metrics.map((point) => point.value)).toEqual([0.5]);
  });

  it("measured twice at one place keeps the later value", () => {
    expect(after(progress(10, 3), metric(0.5, 1), metric(0.5, 1)).metrics).toHaveLength(1);
  });

  it("keeps its shape and its bound however long training goes on", () => {
    let view = emptyJobView();
    for (let done = 1; done <= 5000; ++done) {
      view = reduceJob(view, progress(done, 5000 - done, "labels", 5000));
    }
    expect(view.loss.length).toBeLessThanOrEqual(kCurvePointsMax);
    expect(view.loss[0]).toEqual({ at: 1, value: 4999 });
    expect(view.loss.at(-1)).toEqual({ at: 5000, value: 0 });
    expect(
      view.loss.every((point, index, all) => index === 0 || point.at > (all[index - 1]?.at ?? 0)),
    ).toBe(true);
  });
});

describe("results", () => {
  it("of an evaluation are no points of a curve, and the later one counts", () => {
    const measured = (value: number): JobEvent => ({
      step: "evaluate",
      event: "metric",
      name: "trained blend nDCG@10",
      value,
    });
    const view = after(progress(10, 3), measured(0.6), measured(0.7));
    expect(view.metrics).toEqual([]);
    expect(view.results).toEqual([{ name: "trained blend nDCG@10", value: 0.7 }]);
  });
});

describe("words", () => {
  it("keep the plan with its reasons, the device line and notes", () => {
    const view = after(
      {
        event: "plan",
        parameters: [
          { name: "epochs", value: 2, reason: "few pairs" },
          { name: "stages", value: "cold" },
        ],
      },
      { event: "device", text: "device: cpu" },
      { event: "note", text: "one" },
      { event: "note", text: "two" },
      { event: "published", model: "house@1" },
    );
    expect(view.plan).toEqual([
      { name: "epochs", value: "2", reason: "few pairs" },
      { name: "stages", value: "cold", reason: "" },
    ]);
    expect(view.device).toBe("device: cpu");
    expect(view.notes).toEqual(["one", "two", "published as house@1"]);
  });

  it("survive events of unknown kinds and wrong types", () => {
    const view = after(
      { event: "surprise" },
      { event: "plan", parameters: "none" },
      { event: "metric", name: "ndcg_at_10", value: "high" },
      { event: "progress", done: null, total: "x", loss: Number.NaN, step: "train" },
      { event: "end" },
    );
    expect(view.plan).toEqual([]);
    expect(view.metrics).toEqual([]);
    expect(view.loss).toEqual([]);
    expect(view.progress).toBeNull();
  });
});
