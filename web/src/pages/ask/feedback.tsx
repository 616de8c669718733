import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { sendFeedback } from "../../api/client";
import { asProblem } from "../../api/problem";
import { Icon } from "../../parts/icons";

/** Good or bad: the judgement becomes a training row of the collection. It can be changed. */
export function Feedback(props: {
  collection: string;
  question: string;
  passageId: string;
}): JSX.Element {
  const [given, setGiven] = useState<boolean | null>(null);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const [failed, setFailed] = useState(false);

  const judge = async (good: boolean): Promise<void> => {
    setBusy(true);
    try {
      await sendFeedback(props.collection, props.question, props.passageId, good);
      setGiven(good);
      setFailed(false);
      setSaid("Kept for training");
    } catch (error) {
      setFailed(true);
      setSaid(`Not kept: ${asProblem(error).message}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="feedback" role="group" aria-label="Is this a good answer?">
      <span class={failed ? "field-error" : "quiet"} role="status">
        {said}
      </span>
      {([true, false] as const).map((good) => (
        <button
          key={String(good)}
          type="button"
          class="icon-button"
          aria-label={good ? "Good answer" : "Bad answer"}
          title={good ? "Good answer" : "Bad answer"}
          aria-pressed={given === good}
          disabled={busy}
          onClick={() => void judge(good)}
        >
          <Icon name={good ? "good" : "bad"} />
        </button>
      ))}
    </div>
  );
}
