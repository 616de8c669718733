import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { listJobs } from "../../api/client";
import type { Job } from "../../api/types";
import { formatDuration, formatTime } from "../../logic/format";
import { Empty, PageTitle, ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";
import { routeHref } from "../../router";
import { JobForm } from "./job_form";
import { durationSeconds, kindText, StateBadge } from "./job_words";

function JobRow({ job }: { job: Job }): JSX.Element {
  return (
    <tr>
      <th scope="row">
        <a href={routeHref({ page: "job", id: job.id })}>{job.name || job.id}</a>
        <div class="quiet small job-id">{job.id}</div>
      </th>
      <td data-label="Kind">{kindText(job.kind)}</td>
      <td data-label="State">
        <StateBadge state={job.state} />
        {job.state === "running" && job.step !== "" && <span class="quiet"> {job.step}</span>}
      </td>
      <td data-label="Started">{formatTime(job.created)}</td>
      <td class="figure" data-label="Took">
        {formatDuration(durationSeconds(job))}
      </td>
      <td data-label="Model">{job.model || <span class="quiet">none</span>}</td>
    </tr>
  );
}

export function JobsPage(): JSX.Element {
  const { value, problem, reload } = useResource("jobs", listJobs, 3000);
  const [open, setOpen] = useState(false);
  return (
    <>
      <PageTitle
        lead="Training and evaluation, newest first. History survives restarts."
        aside={
          <button
            type="button"
            class={open ? "button" : "button button-main"}
            aria-expanded={open}
            aria-controls="new-job"
            onClick={() => setOpen(!open)}
          >
            {open ? "Close" : "Train a model"}
          </button>
        }
      >
        Jobs
      </PageTitle>
      <div id="new-job">{open && <JobForm />}</div>
      {problem && <ProblemNotice problem={problem} retry={reload} />}
      {value === null && !problem && <Spinner label="Looking at the jobs" />}
      {value?.length === 0 && (
        <Empty title="No jobs yet" command="sibyl train coldstart --collection docs">
          Training teaches a model the words of your documents. The button above starts a job, or
          this does, from a collection and without any labels.
        </Empty>
      )}
      {value !== null && value.length > 0 && (
        <div class="card table-card">
          <table>
            <thead>
              <tr>
                <th scope="col">Job</th>
                <th scope="col">Kind</th>
                <th scope="col">State</th>
                <th scope="col">Started</th>
                <th scope="col" class="figure">
                  Took
                </th>
                <th scope="col">Model</th>
              </tr>
            </thead>
            <tbody>
              {value.map((job) => (
                <JobRow key={job.id} job={job} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
