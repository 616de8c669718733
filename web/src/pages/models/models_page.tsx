import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { listModels, setDefaultModel } from "../../api/client";
import { asProblem, type Problem } from "../../api/problem";
import { Empty, PageTitle, ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";
import { ModelCard } from "./model_card";

export function ModelsPage(): JSX.Element {
  const { value, problem, reload } = useResource("models", listModels);
  const [busy, setBusy] = useState("");
  const [failed, setFailed] = useState<Problem | null>(null);

  const makeDefault = async (name: string): Promise<void> => {
    setBusy(name);
    setFailed(null);
    try {
      await setDefaultModel(name);
      reload();
    } catch (error) {
      setFailed(asProblem(error));
    } finally {
      setBusy("");
    }
  };
  return (
    <>
      <PageTitle lead="What turns texts into vectors. New collections take the default.">
        Models
      </PageTitle>
      {problem && <ProblemNotice problem={problem} retry={reload} />}
      {failed && <ProblemNotice problem={failed} />}
      {value === null && !problem && <Spinner label="Looking at the models" />}
      {value?.length === 0 && (
        <Empty title="No models yet" command="sibyl models import ./model-directory">
          Until there is one, keyword search answers. A model directory of sentence-transformers
          loads as it is; training makes one of your own.
        </Empty>
      )}
      {value !== null && value.length > 0 && (
        <ul class="cards">
          {value.map((model) => (
            <li key={model.reference}>
              <ModelCard
                model={model}
                busy={busy !== ""}
                onDefault={() => void makeDefault(model.name)}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
