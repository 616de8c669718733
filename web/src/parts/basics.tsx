import type { ComponentChildren, JSX } from "preact";

import type { Problem } from "../api/problem";
import { formatShare } from "../logic/format";
import { Icon, type IconName } from "./icons";

export function Spinner({ label }: { label: string }): JSX.Element {
  return (
    <p class="spinner" role="status">
      <span class="spinner-ring" aria-hidden="true" />
      {label}
    </p>
  );
}

export function Notice(props: {
  kind: "info" | "warning" | "error";
  title?: string;
  children?: ComponentChildren;
  action?: { label: string; run: () => void };
}): JSX.Element {
  const icon: IconName = props.kind === "info" ? "info" : "warning";
  return (
    <div class={`notice notice-${props.kind}`} role={props.kind === "error" ? "alert" : "note"}>
      <Icon name={icon} />
      <div class="notice-body">
        {props.title && <strong>{props.title}</strong>}
        {props.children && <div>{props.children}</div>}
      </div>
      {props.action && (
        <button type="button" class="button button-quiet" onClick={props.action.run}>
          {props.action.label}
        </button>
      )}
    </div>
  );
}

export function ProblemNotice(props: { problem: Problem; retry?: () => void }): JSX.Element {
  const { problem } = props;
  const action = props.retry ? { action: { label: "Try again", run: props.retry } } : {};
  return (
    <Notice kind="error" title={problem.title} {...action}>
      {problem.detail}
      {problem.field && (
        <div class="small">
          Field: <code>{problem.field}</code>
        </div>
      )}
    </Notice>
  );
}

/** What stands where there is nothing yet: why, and the command that changes it. */
export function Empty(props: {
  title: string;
  children?: ComponentChildren;
  command?: string;
}): JSX.Element {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      {props.children && <p>{props.children}</p>}
      {props.command && (
        <pre class="command">
          <code>{props.command}</code>
        </pre>
      )}
    </div>
  );
}

export function ProgressBar(props: { share: number; label: string }): JSX.Element {
  const share = Math.min(1, Math.max(0, props.share));
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      aria-valuetext={formatShare(share)}
    >
      <div class="progress-fill" style={{ width: `${share * 100}%` }} />
    </div>
  );
}

/** Name and value pairs, drawn as a quiet grid. */
export function Facts(props: { rows: [string, ComponentChildren][] }): JSX.Element {
  const wide = (value: ComponentChildren): boolean =>
    typeof value === "string" && value.length > 40;
  return (
    <dl class="facts">
      {props.rows.map(([name, value]) => (
        <div key={name} class={wide(value) ? "facts-wide" : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The page's heading: takes the focus when a place is opened, so that readers hear where they are. */
export function PageTitle(props: {
  children: ComponentChildren;
  lead?: ComponentChildren;
  aside?: ComponentChildren;
}): JSX.Element {
  return (
    <header class="page-title">
      <div>
        <h1 tabIndex={-1}>{props.children}</h1>
        {props.lead && <p class="lead">{props.lead}</p>}
      </div>
      {props.aside && <div class="page-aside">{props.aside}</div>}
    </header>
  );
}
