import { describe, expect, it } from "vitest";

import { draftErrors, jobFileOf, suggestedName, type JobDraft } from "../src/logic/job_request";

const draft: JobDraft = {
  kind: "coldstart",
  collection: "Help Desk",
  base: "minilm",
  name: "help-desk",
  minutes: "",
  deploy: false,
};

describe("a new job", () => {
  it("is the smallest job file that says what was chosen", () => {
    expect(jobFileOf(draft, "ignored")).toEqual({
      kind: "coldstart",
      name: "help-desk",
      data: { collection: "Help Desk" },
      base: "minilm",
    });
    expect(
      jobFileOf({ ...draft, kind: "supervised", minutes: "2.5", deploy: true }, "id.jsonl"),
    ).toEqual({
      kind: "supervised",
      name: "help-desk",
      data: { collection: "Help Desk", pairs: "id.jsonl" },
      base: "minilm",
      train: { budget_minutes: 2.5 },
      deploy: { collection: "Help Desk" },
    });
  });

  it("gets a name that the registry takes", () => {
    expect(["Help Desk", "_ä x", "a".repeat(80)].map(suggestedName)).toEqual([
      "help-desk",
      "x",
      "a".repeat(64),
    ]);
  });

  it("names every field that is wrong", () => {
    expect(draftErrors(draft, false)).toEqual({});
    const wrong = { ...draft, kind: "supervised" as const, collection: "", name: "No Spaces" };
    expect(Object.keys(draftErrors(wrong, false)).sort()).toEqual(["collection", "name", "pairs"]);
    for (const minutes of ["0", "-3", "soon", "1e9"]) {
      expect(Object.keys(draftErrors({ ...draft, minutes }, true)), minutes).toEqual(["minutes"]);
    }
  });
});
