import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { getModel } from "../../api/client";
import type { Model } from "../../api/types";
import { formatBytes, formatCount, formatTime } from "../../logic/format";
import { flatten } from "../../logic/flatten";
import { Facts, ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";

function Table(props: { title: string; value: unknown }): JSX.Element | null {
  const rows = flatten(props.value);
  return rows.length === 0 ? null : (
    <div class="detail-table">
      <h3>{props.title}</h3>
      <Facts rows={rows} />
    </div>
  );
}

function Details({ reference }: { reference: string }): JSX.Element {
  const { value, problem, reload } = useResource(`model/${reference}`, (signal) =>
    getModel(reference, signal),
  );
  if (value === null) {
    return problem ? (
      <ProblemNotice problem={problem} retry={reload} />
    ) : (
      <Spinner label="Reading the model's record" />
    );
  }
  const pipelines = Object.keys(value.pipelines).length > 0 ? value.pipelines : null;
  const known = [value.metrics, value.trainedOn, value.parameters, pipelines].some(
    (part) => flatten(part).length > 0,
  );
  return (
    <div class="details">
      {value.base && <Facts rows={[["Trained from", value.base]]} />}
      <Table title="Held-out metrics" value={value.metrics} />
      <Table title="Fitted pipelines" value={pipelines} />
      <Table title="Trained on" value={value.trainedOn} />
      <Table title="Parameters" value={value.parameters} />
      {!known && (
        <p class="quiet">This model was imported: nothing is recorded about its training.</p>
      )}
    </div>
  );
}

export function ModelCard(props: {
  model: Model;
  busy: boolean;
  onDefault: () => void;
}): JSX.Element {
  const { model } = props;
  const [open, setOpen] = useState(false);
  const details = `details-${model.reference.replace(/[^A-Za-z0-9]/g, "-")}`;
  return (
    <article class="card" aria-label={`Model ${model.reference}`}>
      <div class="card-head">
        <h2>
          {model.name} <span class="quiet">version {model.version}</span>
        </h2>
        {model.isDefault ? (
          <span class="badge badge-done">default</span>
        ) : (
          <button
            type="button"
            class="button"
            disabled={props.busy}
            aria-label={`Make default: ${model.name}`}
            onClick={props.onDefault}
          >
            Make default
          </button>
        )}
      </div>
      <Facts
        rows={[
          ["Kind", model.kind || "unknown"],
          ["Dimensions", formatCount(model.dimension)],
          ["Size", formatBytes(model.bytes)],
          ["Added", formatTime(model.created)],
        ]}
      />
      <button
        type="button"
        class="button button-quiet"
        aria-expanded={open}
        aria-controls={details}
        onClick={() => setOpen(!open)}
      >
        {open ? "Hide the training record" : "Training record and metrics"}
      </button>
      <div id={details}>{open && <Details reference={model.reference} />}</div>
    </article>
  );
}
