import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { listCollections, listModels, submitJob, uploadFile } from "../../api/client";
import { asProblem, type Problem } from "../../api/problem";
import { draftErrors, jobFileOf, suggestedName, type JobDraft } from "../../logic/job_request";
import { ProblemNotice } from "../../parts/basics";
import { Field } from "../../parts/field";
import { useResource } from "../../parts/use_resource";
import { navigate } from "../../router";

const kEmptyDraft: JobDraft = {
  kind: "coldstart",
  collection: "",
  base: "",
  name: "",
  minutes: "",
  deploy: true,
};

type Change = (part: Partial<JobDraft>) => void;

function KindChoice({ draft, change }: { draft: JobDraft; change: Change }): JSX.Element {
  const kinds = [
    ["coldstart", "From the documents alone (cold start)"],
    ["supervised", "From pairs of questions and answers"],
  ] as const;
  return (
    <fieldset class="choices">
      <legend>What to learn from</legend>
      {kinds.map(([kind, label]) => (
        <label key={kind} class="choice">
          <input
            type="radio"
            name="kind"
            checked={draft.kind === kind}
            onChange={() => change({ kind })}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function DataFields(props: {
  draft: JobDraft;
  change: Change;
  errors: Partial<Record<string, string>>;
  onFile: (file: File | null) => void;
}): JSX.Element {
  const { draft, change, errors } = props;
  const collections = useResource("collections", listCollections);
  return (
    <>
      <Field id="job-collection" label="Collection" error={errors["collection"]}>
        {(wiring) => (
          <select
            {...wiring}
            value={draft.collection}
            onChange={(event) => {
              const collection = event.currentTarget.value;
              const untouched = draft.name === suggestedName(draft.collection);
              change({ collection, ...(untouched ? { name: suggestedName(collection) } : {}) });
            }}
          >
            <option value="">choose a collection</option>
            {(collections.value ?? []).map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {draft.kind === "supervised" && (
        <Field
          id="job-pairs"
          label="Questions with answers"
          hint="JSONL or CSV: question, and answer or answer_id"
          error={errors["pairs"]}
        >
          {(wiring) => (
            <input
              {...wiring}
              type="file"
              accept=".jsonl,.csv,.tsv,.gz"
              onChange={(event) => props.onFile(event.currentTarget.files?.[0] ?? null)}
            />
          )}
        </Field>
      )}
      {collections.problem && <ProblemNotice problem={collections.problem} />}
    </>
  );
}

function BaseField({ draft, change }: { draft: JobDraft; change: Change }): JSX.Element {
  const models = useResource("models", listModels);
  // A static model has no layers to go on training.
  const bases = (models.value ?? []).filter((model) => model.kind === "transformer");
  const names = Array.from(new Set(bases.map((model) => model.name)));
  const first = bases.find((model) => model.isDefault)?.name ?? names[0] ?? "static_custom";
  useEffect(() => {
    if (draft.base === "" && models.value !== null) {
      change({ base: first });
    }
  }, [draft.base, models.value, first]);
  return (
    <>
      <Field id="job-base" label="Start from">
        {(wiring) => (
          <select
            {...wiring}
            value={draft.base}
            onChange={(event) => change({ base: event.currentTarget.value })}
          >
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
            <option value="static_custom">nothing: a small, fast static model</option>
          </select>
        )}
      </Field>
      {models.problem && <ProblemNotice problem={models.problem} />}
    </>
  );
}

function ModelFields(props: {
  draft: JobDraft;
  change: Change;
  errors: Partial<Record<string, string>>;
}): JSX.Element {
  const { draft, change, errors } = props;
  return (
    <>
      <BaseField draft={draft} change={change} />
      <Field
        id="job-name"
        label="Name of the model"
        hint="An existing name gets a new version"
        error={errors["name"]}
      >
        {(wiring) => (
          <input
            {...wiring}
            type="text"
            value={draft.name}
            autoComplete="off"
            spellcheck={false}
            onInput={(event) => change({ name: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field
        id="job-minutes"
        label="Minutes"
        hint="At most this long; nothing: as the data wants"
        error={errors["minutes"]}
      >
        {(wiring) => (
          <input
            {...wiring}
            type="text"
            inputMode="decimal"
            value={draft.minutes}
            autoComplete="off"
            onInput={(event) => change({ minutes: event.currentTarget.value })}
          />
        )}
      </Field>
    </>
  );
}

interface Start {
  errors: Partial<Record<string, string>>;
  busy: boolean;
  problem: Problem | null;
  start: () => Promise<void>;
}

/** Checks, sends the file, starts the job and goes to its page. */
function useStart(draft: JobDraft, file: File | null): Start {
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const errors = draftErrors(draft, file !== null);
  const start = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(errors).length > 0) {
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      const pairs = draft.kind === "supervised" && file !== null ? await uploadFile(file) : "";
      const job = await submitJob(jobFileOf(draft, pairs));
      navigate({ page: "job", id: job.id });
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return { errors: tried ? errors : {}, busy, problem, start };
}

/** Starts a training job on a collection, and goes to its page. */
export function JobForm(): JSX.Element {
  const [draft, setDraft] = useState(kEmptyDraft);
  const [file, setFile] = useState<File | null>(null);
  const { errors, busy, problem, start } = useStart(draft, file);
  const change: Change = (part) => setDraft((old) => ({ ...old, ...part }));
  return (
    <form
      class="card"
      aria-labelledby="new-job-title"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <h2 id="new-job-title">Train a model</h2>
      <KindChoice draft={draft} change={change} />
      <div class="form-grid">
        <DataFields draft={draft} change={change} errors={errors} onFile={setFile} />
        <ModelFields draft={draft} change={change} errors={errors} />
      </div>
      <label class="choice">
        <input
          type="checkbox"
          checked={draft.deploy}
          onChange={(event) => change({ deploy: event.currentTarget.checked })}
        />
        Switch the collection to the new model when it is there
      </label>
      {problem && <ProblemNotice problem={problem} />}
      <button type="submit" class="button button-main" disabled={busy}>
        {busy ? "Starting" : "Start"}
      </button>
    </form>
  );
}
