import { keyHeaders } from "./key";
import { asProblem, Problem, problemOf } from "./problem";

export interface RequestOptions {
  method?: string;
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  file?: Blob;
  signal?: AbortSignal;
}

/** True for the error of a request that the page itself gave up. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function send(path: string, accept: string, options: RequestOptions): Promise<Response> {
  const headers: Record<string, string> = { Accept: accept, ...keyHeaders() };
  const init: RequestInit = { method: options.method ?? "GET", headers };
  if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  if (options.file !== undefined) {
    headers["Content-Type"] = "application/octet-stream";
    init.body = options.file;
  }
  if (options.signal !== undefined) {
    init.signal = options.signal;
  }
  let reply: Response;
  try {
    reply = await fetch(path, init);
  } catch (error) {
    throw isAbort(error) ? error : asProblem(error);
  }
  if (!reply.ok) {
    throw await problemOf(reply);
  }
  return reply;
}

/** One request to this page's own server; throws a Problem, or an abort as it came. */
export async function requestJson(path: string, options: RequestOptions = {}): Promise<unknown> {
  const reply = await send(path, "application/json", options);
  const body = await reply.text();
  if (body === "") {
    return null;
  }
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new Problem(reply.status, "The reply cannot be read", `${path} did not answer with JSON`);
  }
}

export async function requestText(path: string, options: RequestOptions = {}): Promise<string> {
  return (await send(path, "text/plain, */*", options)).text();
}

export async function requestStream(
  path: string,
  extraHeaders: Record<string, string>,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  let reply: Response;
  try {
    reply = await fetch(path, {
      headers: { Accept: "text/event-stream", ...keyHeaders(), ...extraHeaders },
      signal,
    });
  } catch (error) {
    throw isAbort(error) ? error : asProblem(error);
  }
  if (!reply.ok) {
    throw await problemOf(reply);
  }
  if (reply.body === null) {
    throw new Problem(reply.status, "The reply cannot be read", `${path} has no body`);
  }
  return reply.body;
}
