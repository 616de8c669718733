import { dateOf, fieldsOf, listOf, numberOf, textOf, type Fields } from "./decode";
import { readEvents } from "./event_stream";
import { Problem } from "./problem";
import { requestJson, requestStream, requestText } from "./request";
import type { Collection, Job, JobEvent, JobState, Model, QueryReply, QueryRequest } from "./types";

/** Calls of the HTTP interface (docs/reference/http.md), each with its reply checked and typed. */

function segment(name: string): string {
  return encodeURIComponent(name);
}

export function collectionOf(value: unknown): Collection {
  const fields = fieldsOf(value);
  const switching = fieldsOf(fields["switching"]);
  return {
    name: textOf(fields["name"]),
    settings: fieldsOf(fields["settings"]),
    rows: numberOf(fields["rows"]) ?? 0,
    deletedRows: numberOf(fields["deleted_rows"]) ?? 0,
    segments: numberOf(fields["segments"]) ?? 0,
    diskBytes: numberOf(fields["disk_bytes"]) ?? 0,
    switchingTo: textOf(switching["model"]) || null,
    switchedShare: numberOf(switching["share"]) ?? 0,
  };
}

export function modelOf(value: unknown): Model {
  const fields = fieldsOf(value);
  const provenance = fieldsOf(fields["provenance"]);
  const name = textOf(fields["name"]) || textOf(fields["id"]).replace(/@.*$/, "");
  const version = textOf(fields["version"]) || "1";
  const pipelines = Object.entries(fieldsOf(provenance["pipelines"]));
  return {
    reference: `${name}@${version}`,
    name,
    version,
    kind: textOf(fields["kind"]),
    dimension: numberOf(fields["dimension"]),
    bytes: numberOf(fields["bytes"]),
    isDefault: fields["default"] === true,
    base: textOf(provenance["base"]) || null,
    created: dateOf(fields["created"]) ?? dateOf(provenance["created"]),
    metrics: provenance["metrics"] ?? null,
    trainedOn: provenance["trained_on"] ?? null,
    parameters: provenance["parameters"] ?? null,
    pipelines: Object.fromEntries(pipelines.map(([key, text]) => [key, textOf(text)])),
  };
}

const kJobStates: readonly JobState[] = [
  "queued",
  "running",
  "done",
  "failed",
  "cancelled",
  "interrupted",
];

export function jobOf(value: unknown): Job {
  const fields = fieldsOf(value);
  const state = textOf(fields["state"]);
  return {
    id: textOf(fields["id"]),
    name: textOf(fields["name"]),
    kind: textOf(fields["kind"]),
    state: kJobStates.find((known) => known === state) ?? "queued",
    step: textOf(fields["step"]),
    error: textOf(fields["error"]),
    model: textOf(fields["model"]),
    created: dateOf(fields["created"]),
    ended: dateOf(fields["ended"]),
  };
}

/** True when nothing more will happen to the job by itself. */
export function isOver(state: JobState): boolean {
  return state !== "queued" && state !== "running";
}

export async function listCollections(signal?: AbortSignal): Promise<Collection[]> {
  const reply = await requestJson("/v1/collections", signal ? { signal } : {});
  return listOf(reply, "collections").map(collectionOf);
}

export async function getCollection(name: string, signal?: AbortSignal): Promise<Collection> {
  const path = `/v1/collections/${segment(name)}`;
  return collectionOf(await requestJson(path, signal ? { signal } : {}));
}

export async function switchModel(collection: string, model: string): Promise<Collection> {
  const path = `/v1/collections/${segment(collection)}`;
  return collectionOf(await requestJson(path, { method: "PUT", body: { model } }));
}

export async function query(
  collection: string,
  request: QueryRequest,
  signal?: AbortSignal,
): Promise<QueryReply> {
  const path = `/v1/collections/${segment(collection)}/query`;
  const options = { method: "POST", body: request };
  const reply = await requestJson(path, signal ? { ...options, signal } : options);
  if (!Array.isArray(fieldsOf(reply)["answers"])) {
    throw new Problem(200, "The reply cannot be read", "It holds no list of answers");
  }
  return reply as QueryReply;
}

export async function sendFeedback(
  collection: string,
  question: string,
  passageId: string,
  good: boolean,
): Promise<void> {
  const body = { collection, question, passage_id: passageId, good };
  await requestJson("/v1/feedback", { method: "POST", body });
}

/** Every version of every model, with what it was trained on. */
export async function listModels(signal?: AbortSignal): Promise<Model[]> {
  const options = signal ? { signal } : {};
  return listOf(await requestJson("/v1/models", options), "data").map(modelOf);
}

export async function getModel(reference: string, signal?: AbortSignal): Promise<Model> {
  const path = `/v1/models/${segment(reference)}`;
  return modelOf(await requestJson(path, signal ? { signal } : {}));
}

export async function setDefaultModel(name: string): Promise<void> {
  await requestJson(`/v1/models/${segment(name)}/default`, { method: "PUT" });
}

export async function listJobs(signal?: AbortSignal): Promise<Job[]> {
  return listOf(await requestJson("/v1/jobs", signal ? { signal } : {}), "jobs").map(jobOf);
}

export async function getJob(id: string, signal?: AbortSignal): Promise<Job> {
  return jobOf(await requestJson(`/v1/jobs/${segment(id)}`, signal ? { signal } : {}));
}

export async function submitJob(jobFile: Record<string, unknown>): Promise<Job> {
  return jobOf(await requestJson("/v1/jobs", { method: "POST", body: jobFile }));
}

/** Sends a file for a job; the id that the job names it by. */
export async function uploadFile(file: File): Promise<string> {
  const path = `/v1/uploads?name=${segment(file.name)}`;
  const id = textOf(fieldsOf(await requestJson(path, { method: "POST", file }))["id"]);
  if (id === "") {
    throw new Problem(200, "The reply cannot be read", "It holds no id of the file sent");
  }
  return id;
}

export async function cancelJob(id: string): Promise<void> {
  await requestJson(`/v1/jobs/${segment(id)}`, { method: "DELETE" });
}

export async function resumeJob(id: string): Promise<void> {
  await requestJson(`/v1/jobs/${segment(id)}/resume`, { method: "POST" });
}

export async function jobLog(id: string, signal?: AbortSignal): Promise<string> {
  return requestText(`/v1/jobs/${segment(id)}/log`, signal ? { signal } : {});
}

/** A batch of what the stream brought: event lines in order, and the job when it has ended. */
export interface JobNews {
  events: JobEvent[];
  ended: Job | null;
  /** Where to go on after a break. */
  lastId: string;
}

function eventFrom(data: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(data));
  } catch {
    return null; // a damaged line says nothing; the next one may
  }
}

/** Follows a job's events until the stream ends. */
export async function followJob(
  id: string,
  lastId: string,
  onNews: (news: JobNews) => void,
  signal: AbortSignal,
): Promise<void> {
  const headers: Record<string, string> = lastId === "" ? {} : { "Last-Event-ID": lastId };
  const stream = await requestStream(`/v1/jobs/${segment(id)}/events`, headers, signal);
  await readEvents(stream, (pieces) => {
    const news: JobNews = { events: [], ended: null, lastId };
    for (const piece of pieces) {
      news.lastId = piece.id === "" ? news.lastId : piece.id;
      const fields = eventFrom(piece.data);
      if (fields === null) {
        continue;
      }
      if (piece.event === "end") {
        news.ended = jobOf(fields);
      } else if (typeof fields["event"] === "string") {
        news.events.push(fields as JobEvent);
      }
    }
    onNews(news);
  });
}
