import { useEffect, useState } from "preact/hooks";

import { followJob, isOver } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import type { Job } from "../api/types";
import { emptyJobView, reduceJob, type JobView } from "../logic/job_events";

const kRetryMs = [500, 1000, 2000, 5000, 10_000];

export interface LiveJob {
  view: JobView;
  /** The job as the stream's end told it. */
  ended: Job | null;
  connected: boolean;
  problem: Problem | null;
}

const kNothingYet: LiveJob = { view: emptyJobView(), ended: null, connected: false, problem: null };

/** Waits, or ends at once when the signal says that nobody waits any more. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Follows the events over breaks of the connection until the job has ended or the signal comes. */
async function followToEnd(
  id: string,
  signal: AbortSignal,
  onLive: (live: LiveJob) => void,
): Promise<void> {
  let live = kNothingYet;
  let lastId = "";
  for (let failures = 0; !signal.aborted; ++failures) {
    if (lastId === "") {
      live = { ...live, view: emptyJobView() }; // the stream begins at the start again
    }
    try {
      await followJob(
        id,
        lastId,
        (news) => {
          failures = 0;
          lastId = news.lastId;
          const view = news.events.reduce(reduceJob, live.view);
          live = { view, ended: news.ended ?? live.ended, connected: true, problem: null };
          onLive(live);
        },
        signal,
      );
      if (live.ended !== null && isOver(live.ended.state)) {
        return;
      }
    } catch (error) {
      const problem = asProblem(error);
      live = { ...live, problem, connected: false };
      onLive(live);
      if (problem.status >= 400 && problem.status < 500) {
        return; // asking again would not help
      }
    }
    await pause(kRetryMs[Math.min(failures, kRetryMs.length - 1)] ?? 0, signal);
  }
}

/** The live state of a job; another `turn` begins anew. */
export function useLiveJob(id: string, turn: number): LiveJob {
  const [shown, setShown] = useState<LiveJob>(kNothingYet);
  useEffect(() => {
    const controller = new AbortController();
    let frame = 0;
    let latest = kNothingYet;
    setShown(kNothingYet);
    void followToEnd(id, controller.signal, (live) => {
      latest = live;
      // A finished job sends thousands of lines at once: they are drawn once a frame.
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setShown(latest);
      });
    });
    return () => {
      controller.abort();
      cancelAnimationFrame(frame);
    };
  }, [id, turn]);
  return shown;
}
