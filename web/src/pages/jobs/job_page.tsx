import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { cancelJob, getJob, isOver, resumeJob } from "../../api/client";
import { asProblem, type Problem } from "../../api/problem";
import type { Job } from "../../api/types";
import { formatDuration, formatTime } from "../../logic/format";
import { Facts, Notice, PageTitle, ProblemNotice, Spinner } from "../../parts/basics";
import { useLiveJob, type LiveJob } from "../../parts/use_job";
import { useResource } from "../../parts/use_resource";
import { Curves } from "./curves";
import { JobLog } from "./job_log";
import { JobProgress } from "./job_progress";
import { durationSeconds, kindText, StateBadge } from "./job_words";
import { Plan } from "./plan";
import { Results } from "./results";
import { Steps } from "./steps";

function JobButtons(props: { job: Job; onDone: (resumed: boolean) => void }): JSX.Element | null {
  const { job } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const over = isOver(job.state);
  if (job.state === "done") {
    return null;
  }
  const act = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await (over ? resumeJob(job.id) : cancelJob(job.id));
      props.onDone(over);
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class={over ? "button button-main" : "button button-danger"}
        disabled={busy}
        onClick={() => void act()}
      >
        {over ? "Resume" : "Cancel"}
      </button>
      {problem && <ProblemNotice problem={problem} />}
    </>
  );
}

function Summary({ job, live }: { job: Job; live: LiveJob }): JSX.Element {
  return (
    <section class="card" aria-label="Summary">
      <Steps job={job} view={live.view} />
      {live.view.device && <p class="device-line">{live.view.device}</p>}
      {!isOver(job.state) && <JobProgress progress={live.view.progress} />}
      <Facts
        rows={[
          ["Kind", kindText(job.kind)],
          ["Started", formatTime(job.created)],
          ["Took", formatDuration(durationSeconds(job))],
          ["Model", job.model || (isOver(job.state) ? "none" : "none yet")],
        ]}
      />
    </section>
  );
}

function Body({ job, live }: { job: Job; live: LiveJob }): JSX.Element {
  return (
    <>
      {job.error && (
        <Notice kind="error" title={`The step ${job.step} failed`}>
          {job.error}
        </Notice>
      )}
      {live.problem && !live.connected && (
        <Notice kind="warning" title="The live view is interrupted">
          {live.problem.message}
        </Notice>
      )}
      <Summary job={job} live={live} />
      <Curves view={live.view} />
      <Results results={live.view.results} />
      {live.view.notes.length > 0 && (
        <section class="card" aria-labelledby="notes-title">
          <h2 id="notes-title">Notes</h2>
          <ul class="notes">
            {live.view.notes.map((note, index) => (
              <li key={index}>{note}</li>
            ))}
          </ul>
        </section>
      )}
      <Plan rows={live.view.plan} />
      <JobLog id={job.id} running={!isOver(job.state)} />
    </>
  );
}

export function JobPage({ id }: { id: string }): JSX.Element {
  const [turn, setTurn] = useState(0);
  const [over, setOver] = useState(false);
  const { value, problem, reload } = useResource(
    `job/${id}`,
    async (signal) => {
      const job = await getJob(id, signal);
      setOver(isOver(job.state));
      return job;
    },
    over ? 0 : 2000,
  );
  const live = useLiveJob(id, turn);
  const endedState = live.ended?.state;
  useEffect(() => {
    if (endedState !== undefined) {
      reload();
    }
  }, [endedState, reload]);

  return (
    <>
      <nav class="trail" aria-label="Trail">
        <a href="#/jobs">Jobs</a>
      </nav>
      <PageTitle
        lead={<code>{id}</code>}
        aside={
          value && (
            <JobButtons
              job={value}
              onDone={(resumed) => {
                if (resumed) {
                  setTurn((count) => count + 1);
                }
                reload();
              }}
            />
          )
        }
      >
        {value ? (
          <>
            {value.name || "Job"} <StateBadge state={value.state} />
          </>
        ) : (
          "Job"
        )}
      </PageTitle>
      {problem && <ProblemNotice problem={problem} retry={reload} />}
      {value === null && !problem && <Spinner label="Looking at the job" />}
      {value !== null && <Body job={value} live={live} />}
    </>
  );
}
