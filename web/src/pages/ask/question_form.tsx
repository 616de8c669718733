import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { Collection } from "../../api/types";
import { plural } from "../../logic/format";
import { Icon } from "../../parts/icons";

export interface AskOptions {
  /** Empty: the collection's own. */
  pipeline: string;
  top: number;
  filter: string;
}

export const kDefaultOptions: AskOptions = { pipeline: "", top: 5, filter: "" };

const kPipelines: [string, string][] = [
  ["blend", "blend: all four retrievals"],
  ["document+bm25", "document + BM25"],
  ["document", "document: meaning alone"],
  ["bm25", "BM25: keywords alone"],
];
const kTops = [3, 5, 10, 20, 50];
export const kQuestionLengthMax = 2000;

/** "/" puts the cursor into the question box, unless somebody is typing already. */
function useSlash(box: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement | null;
      const typing = target !== null && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        box.current?.focus();
        box.current?.select();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [box]);
}

function OptionFields(props: {
  collection: Collection;
  options: AskOptions;
  onOptions: (options: AskOptions) => void;
}): JSX.Element {
  const { options, onOptions } = props;
  const [filter, setFilter] = useState(options.filter);
  const change = (part: Partial<AskOptions>): void => onOptions({ ...options, filter, ...part });
  return (
    <div class="ask-options" id="ask-options">
      <label class="field">
        <span>Pipeline</span>
        <select
          value={options.pipeline}
          onChange={(event) => change({ pipeline: event.currentTarget.value })}
        >
          <option value="">
            the collection's: {props.collection.settings.pipeline ?? "blend"}
          </option>
          {kPipelines.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label class="field field-small">
        <span>Answers</span>
        <select
          value={String(options.top)}
          onChange={(event) => change({ top: Number(event.currentTarget.value) })}
        >
          {kTops.map((top) => (
            <option key={top} value={String(top)}>
              {top}
            </option>
          ))}
        </select>
      </label>
      <label class="field field-wide">
        <span>Filter</span>
        <input
          type="text"
          value={filter}
          placeholder={'status = "open" and year >= 2020'}
          spellcheck={false}
          autoComplete="off"
          onInput={(event) => setFilter(event.currentTarget.value)}
          onChange={() => change({})}
        />
      </label>
    </div>
  );
}

function AskBar(props: {
  collections: Collection[];
  collection: Collection;
  open: boolean;
  onOpen: () => void;
  onCollection: (name: string) => void;
}): JSX.Element {
  return (
    <div class="ask-bar">
      <label class="inline-field">
        <span>in</span>
        <select
          aria-label="Collection"
          value={props.collection.name}
          onChange={(event) => props.onCollection(event.currentTarget.value)}
        >
          {props.collections.map((collection) => (
            <option key={collection.name} value={collection.name}>
              {collection.name}
            </option>
          ))}
        </select>
      </label>
      <span class="quiet">{plural(props.collection.rows, "document")}</span>
      <button
        type="button"
        class="button button-quiet ask-more"
        aria-expanded={props.open}
        aria-controls="ask-options"
        onClick={props.onOpen}
      >
        <Icon name="sliders" />
        Options
      </button>
    </div>
  );
}

export function QuestionForm(props: {
  collections: Collection[];
  collection: Collection;
  question: string;
  /** Another object each time the address changed, even back to the same question. */
  visit: object;
  options: AskOptions;
  onOptions: (options: AskOptions) => void;
  onCollection: (name: string) => void;
  onAsk: (question: string) => void;
}): JSX.Element {
  const [draft, setDraft] = useState(props.question);
  const typing = useRef(false);
  const changed = JSON.stringify(props.options) !== JSON.stringify(kDefaultOptions);
  const [open, setOpen] = useState(changed);
  const box = useRef<HTMLInputElement>(null);
  useSlash(box);
  useEffect(() => {
    typing.current = false;
    setDraft(props.question);
  }, [props.question]);
  useEffect(() => {
    // Asking and going Back at once may show only the question that stood before. What is being
    // typed stays.
    if (!typing.current) {
      setDraft(props.question);
    }
  }, [props.visit]);
  useEffect(() => {
    if (props.question === "" && matchMedia("(hover: hover)").matches) {
      box.current?.focus(); // not on touch screens, where it would open the keyboard
    }
  }, [props.question]);

  return (
    <form
      class="ask-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const question = draft.trim();
        if (question !== "") {
          typing.current = false;
          props.onAsk(question);
        }
      }}
    >
      <div class="ask-box">
        <Icon name="search" />
        <input
          ref={box}
          type="search"
          name="question"
          aria-label="Question"
          placeholder="Ask a question"
          maxLength={kQuestionLengthMax}
          autoComplete="off"
          enterkeyhint="search"
          value={draft}
          onInput={(event) => {
            typing.current = true;
            setDraft(event.currentTarget.value);
          }}
        />
        <button type="submit" class="button button-main" disabled={draft.trim() === ""}>
          Ask
        </button>
      </div>
      <AskBar {...props} open={open} onOpen={() => setOpen(!open)} />
      {open && (
        <OptionFields
          collection={props.collection}
          options={props.options}
          onOptions={props.onOptions}
        />
      )}
    </form>
  );
}
