import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Answer } from "../../api/types";
import { formatScore } from "../../logic/format";
import type { Terms } from "../../logic/highlight";
import { linkOf } from "../../logic/link";
import { Icon } from "../../parts/icons";
import { Feedback } from "./feedback";
import { Passage } from "./passage";
import { RetrievalBars } from "./retrieval_bars";

function Heading({ answer }: { answer: Answer }): JSX.Element {
  const link = linkOf(answer.url);
  const title = answer.title || answer.headings?.[0] || answer.id;
  if (link === null) {
    return <h2 class="answer-title">{title}</h2>;
  }
  return (
    <h2 class="answer-title">
      <a href={link} target="_blank" rel="noopener noreferrer">
        {title}
        <Icon name="link" />
        <span class="hidden"> (opens a new tab)</span>
      </a>
    </h2>
  );
}

/** The headings above the passage, without the title when that stands there again. */
function headingPath(answer: Answer): string[] {
  const headings = (answer.headings ?? []).filter((heading) => heading.trim() !== "");
  const title = answer.title || answer.headings?.[0] || "";
  return headings[0] === title ? headings.slice(1) : headings;
}

function AnswerHead(props: { answer: Answer; place: number; best: number }): JSX.Element {
  const { answer } = props;
  const path = headingPath(answer);
  const share = props.best > 0 ? Math.max(0, answer.score / props.best) : 0;
  return (
    <div class="answer-head">
      <span class="answer-place" aria-hidden="true">
        {props.place}
      </span>
      <div class="answer-name">
        <Heading answer={answer} />
        {path.length > 0 && (
          <p class="heading-path">
            {path.map((heading, index) => (
              <span key={index}>
                {index > 0 && <Icon name="chevron" />}
                {heading}
              </span>
            ))}
          </p>
        )}
      </div>
      <div class="answer-score">
        <span class="hidden">Score </span>
        <strong>{formatScore(answer.score)}</strong>
        <span class="meter" aria-hidden="true">
          <span class="meter-fill" style={{ width: `${share * 100}%` }} />
        </span>
      </div>
    </div>
  );
}

export function AnswerCard(props: {
  answer: Answer;
  place: number;
  best: number;
  terms: Terms;
  explain: boolean;
  question: string;
  collection: string;
}): JSX.Element {
  const { answer } = props;
  const [why, setWhy] = useState(false);
  const scores = Object.keys(answer.retrievals ?? {}).length > 0;
  const bars = `why-${props.place}`;
  return (
    <article class="card answer" aria-label={`Answer ${props.place}`}>
      <AnswerHead answer={answer} place={props.place} best={props.best} />
      <Passage text={answer.text} span={answer.span} terms={props.terms} />
      {(props.explain || why) && scores && (
        <div id={bars}>
          <RetrievalBars retrievals={answer.retrievals ?? {}} />
        </div>
      )}
      <div class="answer-foot">
        <code class="answer-id" title={answer.passage_id}>
          {answer.passage_id || answer.id}
        </code>
        {scores && !props.explain && (
          <button
            type="button"
            class="button button-quiet"
            aria-expanded={why}
            aria-controls={bars}
            onClick={() => setWhy(!why)}
          >
            Why this answer
          </button>
        )}
        <Feedback
          collection={props.collection}
          question={props.question}
          passageId={answer.passage_id}
        />
      </div>
    </article>
  );
}
