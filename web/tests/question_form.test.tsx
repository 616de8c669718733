import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import type { JSX } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Collection } from "../src/api/types";
import { kDefaultOptions, QuestionForm } from "../src/pages/ask/question_form";

const collection = { name: "handbook", rows: 3, settings: {} } as Collection;

function formOf(question: string, visit: object, onAsk: (question: string) => void): JSX.Element {
  return (
    <QuestionForm
      collections={[collection]}
      collection={collection}
      question={question}
      visit={visit}
      options={kDefaultOptions}
      onOptions={() => undefined}
      onCollection={() => undefined}
      onAsk={onAsk}
    />
  );
}

function box(): HTMLInputElement {
  return screen.getByRole("searchbox", { name: "Question" });
}

describe("QuestionForm", () => {
  beforeEach(() => {
    vi.stubGlobal("matchMedia", () => ({ matches: false }));
  });
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("returns to the question of the address when Back came before the next was drawn", () => {
    const onAsk = vi.fn();
    const { rerender } = render(formOf("first", {}, onAsk));
    fireEvent.input(box(), { target: { value: "second" } });
    fireEvent.submit(screen.getByRole("search"));
    expect(onAsk).toHaveBeenCalledWith("second");
    rerender(formOf("first", {}, onAsk));
    expect(box().value).toBe("first");
  });

  it("keeps what is being typed when only the collection changed", () => {
    const { rerender } = render(formOf("first", {}, vi.fn()));
    fireEvent.input(box(), { target: { value: "half a quest" } });
    rerender(formOf("first", {}, vi.fn()));
    expect(box().value).toBe("half a quest");
  });

  it("follows the address to another question", () => {
    const { rerender } = render(formOf("first", {}, vi.fn()));
    fireEvent.input(box(), { target: { value: "half a quest" } });
    rerender(formOf("second", {}, vi.fn()));
    expect(box().value).toBe("second");
  });
});
