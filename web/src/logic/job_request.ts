/** What the form for a new job holds. */
export interface JobDraft {
  kind: "coldstart" | "supervised";
  collection: string;
  base: string;
  name: string;
  /** Minutes of training as typed; empty: as long as the data wants. */
  minutes: string;
  /** The collection changes to the new model when it is there. */
  deploy: boolean;
}

/** Model names as the registry takes them. */
const kName = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The collection's name as a model name, where that can be done. */
export function suggestedName(collection: string): string {
  const name = collection
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "");
  return name.slice(0, 64);
}

/** What is wrong with the draft, by field, in words for people. */
export function draftErrors(draft: JobDraft, hasPairs: boolean): Partial<Record<string, string>> {
  const errors: Partial<Record<string, string>> = {};
  if (draft.collection === "") {
    errors["collection"] = "Choose the collection whose documents are learned";
  }
  if (!kName.test(draft.name)) {
    errors["name"] = "1 to 64 of a-z, 0-9, dot, dash and underscore, first a letter or digit";
  }
  const minutes = Number(draft.minutes);
  if (draft.minutes.trim() !== "" && !(minutes > 0 && minutes <= 100_000)) {
    errors["minutes"] = "A number of minutes above 0, or nothing";
  }
  if (draft.kind === "supervised" && !hasPairs) {
    errors["pairs"] = "Choose a file of questions with their answers";
  }
  return errors;
}

/** The job file (docs/reference/job.schema.json) of a draft; `pairs` is the id of an upload. */
export function jobFileOf(draft: JobDraft, pairs: string): Record<string, unknown> {
  return {
    kind: draft.kind,
    name: draft.name,
    data: { collection: draft.collection, ...(draft.kind === "supervised" ? { pairs } : {}) },
    base: draft.base,
    ...(draft.minutes.trim() === "" ? {} : { train: { budget_minutes: Number(draft.minutes) } }),
    ...(draft.deploy ? { deploy: { collection: draft.collection } } : {}),
  };
}
