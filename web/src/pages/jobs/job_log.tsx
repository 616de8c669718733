import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { jobLog } from "../../api/client";
import { ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";

/** The end of a long log; the whole of it is in the file. */
const kShownCharacters = 100_000;

function LogText({ id, running }: { id: string; running: boolean }): JSX.Element {
  const { value, problem, reload } = useResource(
    `log/${id}`,
    (signal) => jobLog(id, signal),
    running ? 2000 : 0,
  );
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (box.current && atEnd.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [value]);
  if (value === null) {
    return problem ? (
      <ProblemNotice problem={problem} retry={reload} />
    ) : (
      <Spinner label="Reading the log" />
    );
  }
  const cut = value.length > kShownCharacters;
  return (
    <pre
      ref={box}
      class="log"
      tabIndex={0}
      role="region"
      aria-label="Lines of the log"
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        atEnd.current = scrollTop + clientHeight > scrollHeight - 20;
      }}
    >
      {value === "" ? "The log is empty." : (cut ? "…\n" : "") + value.slice(-kShownCharacters)}
    </pre>
  );
}

export function JobLog(props: { id: string; running: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <section class="card" aria-labelledby="log-title">
      <div class="card-head">
        <h2 id="log-title">Log</h2>
        <button
          type="button"
          class="button button-quiet"
          aria-expanded={open}
          aria-controls="job-log"
          onClick={() => setOpen(!open)}
        >
          {open ? "Hide" : "Show"}
        </button>
      </div>
      <div id="job-log">{open && <LogText id={props.id} running={props.running} />}</div>
    </section>
  );
}
