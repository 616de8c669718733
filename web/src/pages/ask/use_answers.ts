import { useCallback, useEffect, useState } from "preact/hooks";

import { query } from "../../api/client";
import { asProblem, type Problem } from "../../api/problem";
import { isAbort } from "../../api/request";
import type { QueryReply, QueryRequest } from "../../api/types";
import type { AskOptions } from "./question_form";

export interface Asked {
  question: string;
  collection: string;
  reply: QueryReply | null;
  problem: Problem | null;
}

export interface Answers {
  /** The last question that was answered or refused; it stays while the next one is asked. */
  asked: Asked | null;
  busy: boolean;
  again: () => void;
}

export function queryRequestOf(question: string, options: AskOptions): QueryRequest {
  const filter = options.filter.trim();
  return {
    question,
    top: options.top,
    explain: true,
    ...(options.pipeline === "" ? {} : { pipeline: options.pipeline }),
    ...(filter === "" ? {} : { filter }),
  };
}

/** Asks whenever collection, question or options change; what is no longer wanted is given up. */
export function useAnswers(collection: string, question: string, options: AskOptions): Answers {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [busy, setBusy] = useState(false);
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    if (collection === "" || question === "") {
      setAsked(null);
      setBusy(false);
      return undefined;
    }
    const controller = new AbortController();
    const settle = (reply: QueryReply | null, problem: Problem | null): void => {
      if (!controller.signal.aborted) {
        setAsked({ question, collection, reply, problem });
        setBusy(false);
      }
    };
    setBusy(true);
    query(collection, queryRequestOf(question, options), controller.signal).then(
      (reply) => settle(reply, null),
      (error: unknown) => {
        if (!isAbort(error)) {
          settle(null, asProblem(error));
        }
      },
    );
    return () => controller.abort();
  }, [collection, question, options, turn]);

  const again = useCallback(() => setTurn((count) => count + 1), []);
  return { asked, busy, again };
}
