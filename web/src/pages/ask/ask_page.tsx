import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { listCollections } from "../../api/client";
import type { Collection } from "../../api/types";
import { Empty, Notice, ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";
import { navigate, routeHref, type AskRoute } from "../../router";
import { AnswerList } from "./answer_list";
import { kDefaultOptions, QuestionForm, type AskOptions } from "./question_form";
import { useAnswers, type Answers } from "./use_answers";

function NoDocuments(): JSX.Element {
  return (
    <>
      <h1 class="hidden" tabIndex={-1}>
        Ask
      </h1>
      <Empty title="No documents yet" command="sibyl add docs ./your-documents">
        Put a folder of HTML, Markdown, text, PDF or CSV files into a collection; then ask here.
      </Empty>
    </>
  );
}

function NoModel({ name }: { name: string }): JSX.Element {
  return (
    <Notice kind="info" title="Keyword search alone">
      This collection has no model, so BM25 answers. Import one with{" "}
      <code>sibyl models import</code> and{" "}
      <a href={routeHref({ page: "collection", name })}>choose it</a>.
    </Notice>
  );
}

function Results({ answers, language }: { answers: Answers; language: string }): JSX.Element {
  const { asked, busy, again } = answers;
  return (
    <div class={busy ? "results results-busy" : "results"} aria-busy={busy}>
      {asked?.problem && <ProblemNotice problem={asked.problem} retry={again} />}
      {asked?.reply && (
        <AnswerList
          reply={asked.reply}
          question={asked.question}
          collection={asked.collection}
          language={language}
        />
      )}
      {busy && asked === null && <Spinner label="Asking" />}
    </div>
  );
}

function Asking(props: {
  collections: Collection[];
  chosen: Collection;
  route: AskRoute;
}): JSX.Element {
  const { chosen } = props;
  const { question } = props.route;
  const [options, setOptions] = useState<AskOptions>(kDefaultOptions);
  const answers = useAnswers(chosen.name, question, options);
  const idle = question === "";
  return (
    <>
      <div class={idle ? "ask-start" : "ask-top"}>
        <h1 class={idle ? "" : "hidden"} tabIndex={-1}>
          Ask your documents
        </h1>
        {idle && (
          <p class="lead">Each document answers with its best passage, and says where it stands.</p>
        )}
        <QuestionForm
          collections={props.collections}
          collection={chosen}
          question={question}
          visit={props.route}
          options={options}
          onOptions={setOptions}
          onCollection={(collection) => navigate({ page: "ask", collection, question })}
          onAsk={(asked) => {
            if (asked === question) {
              answers.again();
            }
            navigate({ page: "ask", collection: chosen.name, question: asked });
          }}
        />
      </div>
      {!chosen.settings.model && <NoModel name={chosen.name} />}
      <Results answers={answers} language={chosen.settings.language ?? "en"} />
    </>
  );
}

/** The address holds collection and question: answers can be linked to, and Back works. */
export function AskPage({ route }: { route: AskRoute }): JSX.Element {
  const { value, problem, reload } = useResource("collections", listCollections);
  if (value === null) {
    return problem ? (
      <ProblemNotice problem={problem} retry={reload} />
    ) : (
      <Spinner label="Looking at the collections" />
    );
  }
  const chosen = value.find(({ name }) => name === route.collection) ?? value[0];
  return chosen === undefined ? (
    <NoDocuments />
  ) : (
    <Asking collections={value} chosen={chosen} route={route} />
  );
}
