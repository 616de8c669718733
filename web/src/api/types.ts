/** The JSON forms of the HTTP interface that the page reads. */

export interface RetrievalScore {
  score: number;
  /** In that retrieval's own list, from 1; 0 or null when it did not list the document. */
  rank?: number | null;
}

/** Offsets count characters (code points) of the text of the answer. */
export interface Span {
  text: string;
  start: number;
  end: number;
  score: number;
}

export interface Answer {
  id: string;
  passage_id: string;
  score: number;
  title?: string | null;
  headings?: string[] | null;
  text: string;
  url?: string | null;
  metadata?: Record<string, unknown> | null;
  span?: Span | null;
  retrievals?: Record<string, RetrievalScore>;
}

export interface QueryReply {
  answers: Answer[];
  collection: string;
  model?: string | null;
  pipeline: string;
  blend?: string;
  notice?: string | null;
  took_ms: number;
}

export interface QueryRequest {
  question: string;
  top: number;
  filter?: string;
  pipeline?: string;
  explain: boolean;
}

export interface CollectionSettings {
  model?: string | null;
  language?: string;
  pipeline?: string;
  chunking?: "off" | { tokens: number; overlap: number };
  fields?: unknown[];
}

export interface Collection {
  name: string;
  settings: CollectionSettings;
  rows: number;
  deletedRows: number;
  segments: number;
  diskBytes: number;
  /** The model of a running re-encoding. */
  switchingTo: string | null;
  /** Its share done, 0 to 1. */
  switchedShare: number;
}

export interface Model {
  /** NAME@VERSION, what collections are set to. */
  reference: string;
  name: string;
  version: string;
  kind: string;
  dimension: number | null;
  bytes: number | null;
  isDefault: boolean;
  base: string | null;
  created: Date | null;
  metrics: unknown;
  trainedOn: unknown;
  parameters: unknown;
  pipelines: Record<string, string>;
}

export type JobState = "queued" | "running" | "done" | "failed" | "cancelled" | "interrupted";

export interface Job {
  id: string;
  name: string;
  kind: string;
  state: JobState;
  step: string;
  error: string;
  model: string;
  created: Date | null;
  ended: Date | null;
}

/** One line of a workspace's events.jsonl (docs/formats/workspace.md). */
export interface JobEvent {
  time?: string;
  step?: string;
  event: string;
  [field: string]: unknown;
}
