import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { apiKey, setApiKey } from "../api/key";
import { asProblem } from "../api/problem";
import { requestJson } from "../api/request";

type Gate = "unknown" | "open" | "closed";

/**
 * Asks for an API key when the server wants one, before anything else is drawn: without it no page
 * would show more than an error.
 */
export function KeyGate({ children }: { children: ComponentChildren }): JSX.Element | null {
  const [gate, setGate] = useState<Gate>("unknown");
  const [refused, setRefused] = useState(false);
  const [draft, setDraft] = useState("");

  const tryKey = async (): Promise<void> => {
    try {
      await requestJson("/v1/collections");
      setGate("open");
    } catch (error) {
      // Any other failure is told by the page that meets it.
      const closed = asProblem(error).wantsKey;
      setGate(closed ? "closed" : "open");
      setRefused(closed && apiKey() !== "");
    }
  };
  useEffect(() => void tryKey(), []);

  if (gate === "unknown") {
    return null;
  }
  if (gate === "open") {
    return <>{children}</>;
  }
  return (
    <form
      class="card key-form"
      onSubmit={(event) => {
        event.preventDefault();
        setApiKey(draft.trim());
        void tryKey();
      }}
    >
      <h1 tabIndex={-1}>This server wants an API key</h1>
      <p class="quiet">
        It is kept in this browser tab alone and forgotten when the tab is closed.
      </p>
      <label class="field">
        <span>API key</span>
        <input
          type="password"
          autoComplete="off"
          value={draft}
          aria-describedby={refused ? "key-refused" : undefined}
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
      </label>
      {refused && (
        <p id="key-refused" class="field-error" role="alert">
          The server does not know this key.
        </p>
      )}
      <button type="submit" class="button button-main" disabled={draft.trim() === ""}>
        Go on
      </button>
    </form>
  );
}
