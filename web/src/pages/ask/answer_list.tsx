import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { QueryReply } from "../../api/types";
import { formatMilliseconds, plural } from "../../logic/format";
import { questionTerms } from "../../logic/highlight";
import { Empty, Notice } from "../../parts/basics";
import { AnswerCard } from "./answer_card";

const kExplainName = "sibyl.explain";

function storedExplain(): boolean {
  try {
    return localStorage.getItem(kExplainName) === "yes";
  } catch {
    return false;
  }
}

function storeExplain(explain: boolean): void {
  try {
    localStorage.setItem(kExplainName, explain ? "yes" : "no");
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
}

export function AnswerList(props: {
  reply: QueryReply;
  question: string;
  collection: string;
  language: string;
}): JSX.Element {
  const { reply, question } = props;
  const [explain, setExplain] = useState(storedExplain);
  const terms = useMemo(() => questionTerms(question, props.language), [question, props.language]);
  const best = Math.max(0, ...reply.answers.map((answer) => answer.score));
  const found = plural(reply.answers.length, "answer");

  return (
    <section aria-label="Answers">
      <div class="results-bar">
        <p class="quiet" role="status">
          {found} in {formatMilliseconds(reply.took_ms)} · {reply.pipeline}
          {reply.model ? ` · ${reply.model}` : ""}
        </p>
        <label class="switch">
          <input
            type="checkbox"
            role="switch"
            checked={explain}
            onChange={(event) => {
              setExplain(event.currentTarget.checked);
              storeExplain(event.currentTarget.checked);
            }}
          />
          <span>Explain scores</span>
        </label>
      </div>
      {explain && reply.blend && (
        <p class="blend-line">
          <span class="quiet">score = </span>
          <code>{reply.blend}</code>
        </p>
      )}
      {/* Without a model the page says so above, with what to do. */}
      {reply.notice && reply.model && <Notice kind="info">{reply.notice}</Notice>}
      {reply.answers.length === 0 ? (
        <Empty title="No answer found">
          Nothing in this collection matches. Try other words, another collection, or a wider
          filter.
        </Empty>
      ) : (
        <ol class="answers">
          {reply.answers.map((answer, index) => (
            <li key={`${question}\n${answer.passage_id || answer.id}`}>
              <AnswerCard
                answer={answer}
                place={index + 1}
                best={best}
                terms={terms}
                explain={explain}
                question={question}
                collection={props.collection}
              />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
