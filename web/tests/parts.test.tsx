import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Answer } from "../src/api/types";
import { questionTerms } from "../src/logic/highlight";
import { ProgressBar } from "../src/parts/basics";
import { AnswerCard } from "../src/pages/ask/answer_card";
import { Feedback } from "../src/pages/ask/feedback";
import { kShownUnits, Passage } from "../src/pages/ask/passage";
import { Steps } from "../src/pages/jobs/steps";
import { emptyJobView, reduceJob } from "../src/logic/job_events";
import { jobOf } from "../src/api/client";

const fetched = vi.fn<typeof fetch>();
beforeEach(() => {
  fetched.mockReset();
  vi.stubGlobal("fetch", fetched);
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("Passage", () => {
  it("folds a long text after a whole word and opens it again", () => {
    const text = "station ".repeat(300);
    const { container } = render(<Passage text={text} span={null} terms={questionTerms("dock")} />);
    const shown = container.querySelector("p")?.textContent ?? "";
    expect(shown.length).toBeLessThan(kShownUnits + 5);
    expect(shown.endsWith("station…")).toBe(true);
    fireEvent.click(screen.getByRole("button", { name: "Show the whole passage" }));
    expect(container.querySelector("p")?.textContent).toBe(text);
  });

  it("never folds the best span away", () => {
    const text = `${"a ".repeat(900)}the answer${" b".repeat(900)}`;
    const span = { text: "the answer", start: 1800, end: 1810, score: 1 };
    const { container } = render(<Passage text={text} span={span} terms={questionTerms("")} />);
    expect(container.querySelector(".best-span")?.textContent).toBe("the answer");
    expect(container.querySelector("p")?.textContent.length).toBeLessThan(text.length);
  });

  it("draws markup of a document as text", () => {
    const { container } = render(
      <Passage
        text={"<img src=x onerror=alert(1)> & <b>"}
        span={null}
        terms={questionTerms("img")}
      />,
    );
    expect(container.querySelector("img, b")).toBeNull();
    expect(container.querySelector("mark")?.textContent).toBe("img");
  });
});

describe("AnswerCard", () => {
  const answer: Answer = {
    id: "d",
    passage_id: "d#0",
    score: 0.5,
    title: "Title",
    headings: ["Title", "Part", "Section"],
    text: "text",
    url: "javascript:alert(1)",
    retrievals: { bm25: { score: 0.25, rank: 3 }, document: { score: 0.75, rank: null } },
  };

  function card(explain: boolean): void {
    render(
      <AnswerCard
        answer={answer}
        place={1}
        best={1}
        terms={questionTerms("q")}
        explain={explain}
        question="q"
        collection="c"
      />,
    );
  }

  it("never links to anything but a web address, and does not repeat the title", () => {
    card(false);
    expect(screen.queryByRole("link")).toBeNull();
    expect(screen.getAllByText("Title")).toHaveLength(1);
    expect(screen.getByText("Section")).toBeTruthy();
  });

  it("explains itself on demand, retrievals in their order", () => {
    card(false);
    expect(screen.queryByRole("table")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Why this answer" }));
    const rows = screen
      .getAllByRole("row")
      .slice(1)
      .map((row) => row.textContent);
    expect(rows).toEqual(["Document0.750not listed", "BM250.250rank 3"]);
  });
});

describe("Feedback", () => {
  it("says when a judgement was not kept, and does not show it as given", async () => {
    fetched.mockResolvedValueOnce(
      new Response('{"title": "Full", "detail": "The disk is full"}', { status: 507 }),
    );
    render(<Feedback collection="c" question="q" passageId="d#0" />);
    const good = screen.getByRole("button", { name: "Good answer" });
    fireEvent.click(good);
    await waitFor(() =>
      expect(screen.getByRole("status").textContent).toBe("Not kept: The disk is full"),
    );
    expect(good.getAttribute("aria-pressed")).toBe("false");
  });
});

describe("ProgressBar", () => {
  it("stays between nothing and all", () => {
    render(<ProgressBar share={1.7} label="Work" />);
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("100");
  });
});

describe("Steps", () => {
  it("show a running step of an interrupted job as stopped", () => {
    const view = reduceJob(emptyJobView(), { step: "prepare", event: "start" });
    render(<Steps job={jobOf({ kind: "supervised", state: "interrupted" })} view={view} />);
    expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
      "preparestopped",
      "trainwaiting",
      "evaluatewaiting",
      "publishwaiting",
    ]);
  });
});
