import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { listCollections, query } from "../../api/client";
import { asProblem, type Problem } from "../../api/problem";
import { isAbort } from "../../api/request";
import type { Collection, QueryReply } from "../../api/types";
import { Empty, Notice, ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";
import { navigate } from "../../router";
import { AnswerList } from "./answer_list";
import { kDefaultOptions, QuestionForm, type AskOptions } from "./question_form";

interface Asked {
  question: string;
  collection: string;
  reply: QueryReply | null;
  problem: Problem | null;
}

function chosenCollection(collections: Collection[], wanted: string): Collection | undefined {
  return collections.find((collection) => collection.name === wanted) ?? collections[0];
}

export function AskPage(props: { collection: string; question: string }): JSX.Element {
  const collections = useResource("collections", listCollections);
  const [options, setOptions] = useState<AskOptions>(kDefaultOptions);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [busy, setBusy] = useState(false);
  const [turn, setTurn] = useState(0);
  const running = useRef<AbortController | null>(null);
  const list = collections.value ?? [];
  const chosen = chosenCollection(list, props.collection);
  const name = chosen?.name ?? "";

  // The address holds collection and question: answers can be linked to, and Back works.
  useEffect(() => {
    running.current?.abort();
    if (name === "" || props.question === "") {
      setAsked(null);
      setBusy(false);
      return undefined;
    }
    const controller = new AbortController();
    running.current = controller;
    setBusy(true);
    const request = {
      question: props.question,
      top: options.top,
      explain: true,
      ...(options.pipeline === "" ? {} : { pipeline: options.pipeline }),
      ...(options.filter.trim() === "" ? {} : { filter: options.filter.trim() }),
    };
    const settle = (reply: QueryReply | null, problem: Problem | null): void => {
      if (!controller.signal.aborted) {
        setAsked({ question: props.question, collection: name, reply, problem });
        setBusy(false);
      }
    };
    query(name, request, controller.signal).then(
      (reply) => settle(reply, null),
      (error: unknown) => {
        if (!isAbort(error)) {
          settle(null, asProblem(error));
        }
      },
    );
    return () => controller.abort();
  }, [name, props.question, options, turn]);

  if (collections.value === null) {
    return collections.problem ? (
      <ProblemNotice problem={collections.problem} retry={collections.reload} />
    ) : (
      <Spinner label="Looking at the collections" />
    );
  }
  if (chosen === undefined) {
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
  const idle = props.question === "";
  return (
    <>
      <div class={idle ? "ask-start" : "ask-top"}>
        <h1 class={idle ? "" : "hidden"} tabIndex={-1}>
          Ask your documents
        </h1>
        {idle && <p class="lead">Each document answers with its best passage, and says where it stands.</p>}
        <QuestionForm
          collections={list}
          collection={chosen}
          question={props.question}
          options={options}
          busy={busy}
          onOptions={setOptions}
          onCollection={(next) => {
            navigate({ page: "ask", collection: next, question: props.question });
          }}
          onAsk={(question) => {
            if (question === props.question) {
              setTurn((count) => count + 1);
            }
            navigate({ page: "ask", collection: name, question });
          }}
        />
      </div>
      {!chosen.settings.model && (
        <Notice kind="info" title="Keyword search alone">
          This collection has no model, so BM25 answers. Import one with{" "}
          <code>sibyl models import</code> and <a href={`#/collections/${encodeURIComponent(name)}`}>choose it</a>.
        </Notice>
      )}
      <div class={busy ? "results results-busy" : "results"} aria-busy={busy}>
        {asked?.problem && (
          <ProblemNotice problem={asked.problem} retry={() => setTurn((count) => count + 1)} />
        )}
        {asked?.reply && (
          <AnswerList
            reply={asked.reply}
            question={asked.question}
            collection={asked.collection}
            language={chosen.settings.language ?? "en"}
          />
        )}
        {busy && asked === null && <Spinner label="Asking" />}
      </div>
    </>
  );
}
