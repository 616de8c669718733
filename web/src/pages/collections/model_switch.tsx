import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { listModels, switchModel } from "../../api/client";
import { asProblem, type Problem } from "../../api/problem";
import type { Collection } from "../../api/types";
import { formatShare, plural } from "../../logic/format";
import { ProblemNotice, ProgressBar } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";

function Running({ collection }: { collection: Collection }): JSX.Element {
  const share = collection.switchedShare;
  return (
    <div class="switching">
      <p role="status">
        Encoding {plural(collection.rows, "document")} with{" "}
        <strong>{collection.switchingTo}</strong>: {formatShare(share)}
      </p>
      <ProgressBar share={share} label="Documents encoded" />
      <p class="quiet">Questions are answered by the old model until this is done.</p>
    </div>
  );
}

/** The collection's model, and the change to another: it encodes all documents anew. */
export function ModelSwitch(props: {
  collection: Collection;
  onSwitched: () => void;
}): JSX.Element {
  const { collection } = props;
  const models = useResource("models", listModels);
  const current = collection.settings.model ?? "";
  const [wanted, setWanted] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const others = (models.value ?? []).filter((model) => model.reference !== current);

  const start = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await switchModel(collection.name, wanted);
      setWanted("");
      props.onSwitched();
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="card" aria-labelledby="model-title">
      <h2 id="model-title">Model</h2>
      <p class="current-model">
        {current ? <strong>{current}</strong> : "No model: BM25 answers alone."}
      </p>
      {collection.switchingTo !== null ? (
        <Running collection={collection} />
      ) : (
        <form
          class="row-form"
          onSubmit={(event) => {
            event.preventDefault();
            void start();
          }}
        >
          <label class="field">
            <span>{current ? "Change to" : "Use"}</span>
            <select
              value={wanted}
              disabled={others.length === 0}
              onChange={(event) => setWanted(event.currentTarget.value)}
            >
              <option value="">
                {others.length === 0 ? "no other model is here" : "choose a model"}
              </option>
              {others.map((model) => (
                <option key={model.reference} value={model.reference}>
                  {model.reference} ({model.kind}
                  {model.dimension === null ? "" : `, ${model.dimension} dimensions`})
                </option>
              ))}
            </select>
          </label>
          <button type="submit" class="button button-main" disabled={wanted === "" || busy}>
            {busy ? "Starting" : "Switch"}
          </button>
        </form>
      )}
      {problem && <ProblemNotice problem={problem} />}
      {models.problem && <ProblemNotice problem={models.problem} retry={models.reload} />}
    </section>
  );
}
