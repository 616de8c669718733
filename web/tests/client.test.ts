import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import {
  collectionOf,
  followJob,
  getModel,
  jobOf,
  listCollections,
  modelOf,
  query,
  sendFeedback,
  setDefaultModel,
  type JobNews,
} from "../src/api/client";
import { setApiKey } from "../src/api/key";
import { Problem } from "../src/api/problem";

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();

function answerWith(body: BodyInit | null, init: ResponseInit = {}): void {
  fetched.mockResolvedValueOnce(new Response(body, init));
}

async function failure(promise: Promise<unknown>): Promise<Problem> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
}

beforeEach(() => {
  fetched.mockReset();
  vi.stubGlobal("fetch", fetched);
});
afterEach(() => {
  vi.unstubAllGlobals();
  setApiKey("");
});

describe("errors", () => {
  it("are read from problem+json", async () => {
    const form = {
      type: "about:blank",
      title: "Bad request",
      status: 400,
      detail: "filter, position 8",
      field: "filter",
    };
    answerWith(JSON.stringify(form), {
      status: 400,
      headers: { "Content-Type": "application/problem+json" },
    });
    const problem = await failure(query("c", { question: "q", top: 5, explain: true }));
    expect(problem).toMatchObject({
      status: 400,
      title: "Bad request",
      detail: "filter, position 8",
      field: "filter",
    });
  });

  it("are read from OpenAI's form", async () => {
    answerWith(JSON.stringify({ error: { message: 'There is no model "x"', type: "not_found" } }), {
      status: 404,
    });
    expect((await failure(getModel("x"))).message).toBe('There is no model "x"');
  });

  it("of something between page and server show no markup", async () => {
    answerWith("<html><h1>502</h1></html>", { status: 502, statusText: "Bad Gateway" });
    const problem = await failure(listCollections());
    expect([problem.title, problem.detail]).toEqual(["Bad Gateway", ""]);
  });

  it("of a server that is gone say so", async () => {
    fetched.mockRejectedValueOnce(new TypeError("Failed to fetch"));
    const problem = await failure(listCollections());
    expect([problem.status, problem.title]).toEqual([0, "The server does not answer"]);
  });

  it("tell a missing key from the rest", async () => {
    answerWith("{}", { status: 401 });
    expect((await failure(listCollections())).wantsKey).toBe(true);
  });

  it("name a reply that is no JSON, and one without answers", async () => {
    answerWith("pong");
    expect((await failure(listCollections())).title).toBe("The reply cannot be read");
    answerWith('{"answers": 3}');
    expect((await failure(query("c", { question: "q", top: 5, explain: true }))).title).toBe(
      "The reply cannot be read",
    );
  });

  it("of a request given up are no problem of the server", async () => {
    fetched.mockRejectedValueOnce(new DOMException("gone", "AbortError"));
    await expect(listCollections()).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("requests", () => {
  it("encode names, and go to the page's own host", async () => {
    answerWith('{"answers": []}');
    await query("a/b c", { question: "q", top: 3, explain: true });
    const [path, init] = fetched.mock.calls[0] ?? [];
    expect(path).toBe("/v1/collections/a%2Fb%20c/query");
    expect(init?.method).toBe("POST");
    expect(JSON.parse(String(init?.body))).toEqual({ question: "q", top: 3, explain: true });
  });

  it("carry the key when there is one", async () => {
    setApiKey("sesame");
    answerWith('{"collections": []}');
    await listCollections();
    expect(fetched.mock.calls[0]?.[1].headers).toMatchObject({ Authorization: "Bearer sesame" });
  });

  it("send judgements in the interface's form, and take an empty reply", async () => {
    answerWith(null, { status: 204 });
    await sendFeedback("c", "why?", "doc#0", false);
    expect(JSON.parse(String(fetched.mock.calls[0]?.[1].body))).toEqual({
      collection: "c",
      question: "why?",
      passage_id: "doc#0",
      good: false,
    });
    answerWith("{}");
    await setDefaultModel("my.model");
    expect(fetched.mock.calls[1]?.[0]).toBe("/v1/models/my.model/default");
    expect(fetched.mock.calls[1]?.[1].method).toBe("PUT");
  });
});

describe("replies", () => {
  it("become collections, with a running switch", () => {
    const collection = collectionOf({
      name: "c",
      rows: 3,
      segments: 1,
      switching: { model: "m@2", share: 0.5 },
      settings: { model: "m@1" },
    });
    expect(collection).toMatchObject({
      name: "c",
      rows: 3,
      switchingTo: "m@2",
      switchedShare: 0.5,
    });
    expect(collectionOf({ name: "c", switching: null })).toMatchObject({
      switchingTo: null,
      rows: 0,
      settings: {},
    });
  });

  it("become models with or without a record", () => {
    expect(
      modelOf({
        id: "m",
        name: "m",
        version: 3,
        default: true,
        dimension: 384,
        created: 1_780_000_000,
      }),
    ).toMatchObject({
      reference: "m@3",
      isDefault: true,
      created: new Date("2026-05-28T20:26:40Z"),
      metrics: null,
      pipelines: {},
    });
    const record = { base: "minilm", metrics: { ndcg_at_10: 0.7 }, pipelines: { blend: "1*bm25" } };
    expect(modelOf({ id: "m@2", provenance: record })).toMatchObject({
      name: "m",
      base: "minilm",
      pipelines: { blend: "1*bm25" },
    });
  });

  it("become jobs, whatever way time is written in", () => {
    const job = jobOf({
      id: "j",
      state: "failed",
      created: "2026-05-28T20:26:40Z",
      ended: 1_780_000_000_000_000,
    });
    expect(job.state).toBe("failed");
    expect(job.created).toEqual(job.ended);
    expect(jobOf({ state: "dancing", ended: 0 })).toMatchObject({ state: "queued", ended: null });
  });
});

describe("the stream of a job", () => {
  function streamOf(...pieces: string[]): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    return new ReadableStream({
      start(controller) {
        pieces.forEach((piece) => controller.enqueue(encoder.encode(piece)));
        controller.close();
      },
    });
  }

  it("brings events in order, where to go on, and the end", async () => {
    answerWith(
      streamOf(
        ': hello\n\nid: 7\ndata: {"event": "note", "text": "Zürich',
        '"}\n\ndata: not json\n\ndata: [1]\n\nevent: end\ndata: {"id": "j", "state": "done"}\n\n',
      ),
    );
    const all: JobNews[] = [];
    await followJob("j", "3", (news) => all.push(news), new AbortController().signal);
    expect(fetched.mock.calls[0]?.[1].headers).toMatchObject({ "Last-Event-ID": "3" });
    expect(all.flatMap((news) => news.events)).toEqual([{ event: "note", text: "Zürich" }]);
    expect(all.at(-1)).toMatchObject({ lastId: "7", ended: { id: "j", state: "done" } });
  });
});
