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

/** Follows the events of a job, over breaks of the connection, until it has ended. */
export function useLiveJob(id: string, turn: number): LiveJob {
  const [live, setLive] = useState<LiveJob>({
    view: emptyJobView(),
    ended: null,
    connected: false,
    problem: null,
  });

  useEffect(() => {
    const controller = new AbortController();
    let view = emptyJobView();
    let lastId = "";
    let ended: Job | null = null;
    let failures = 0;
    let frame = 0;
    let timer = 0;

    const show = (change: Partial<LiveJob>): void => setLive((old) => ({ ...old, ...change }));
    // A finished job sends thousands of lines at once: they are drawn once a frame.
    const draw = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        show({ view, ended, connected: true, problem: null });
      });
    };
    const follow = async (): Promise<void> => {
      if (lastId === "") {
        view = emptyJobView(); // the stream begins at the start again
      }
      try {
        await followJob(
          id,
          lastId,
          (news) => {
            failures = 0;
            lastId = news.lastId;
            ended = news.ended ?? ended;
            view = news.events.reduce(reduceJob, view);
            draw();
          },
          controller.signal,
        );
        if (ended !== null && isOver(ended.state)) {
          draw();
          return;
        }
      } catch (error) {
        if (controller.signal.aborted) {
          return;
        }
        const problem = asProblem(error);
        show({ problem, connected: false });
        if (problem.status >= 400 && problem.status < 500) {
          return; // asking again would not help
        }
      }
      if (!controller.signal.aborted) {
        timer = window.setTimeout(() => void follow(), kRetryMs[Math.min(failures++, 4)]);
      }
    };

    show({ view, ended: null, connected: false, problem: null });
    void follow();
    return () => {
      controller.abort();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [id, turn]);

  return live;
}
