// A small double of `sibyl serve`: the built page and canned replies, so that the page is tested
// without the program. It sends the content policy that the server sends.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import path from "node:path";

import * as data from "./double_data.mjs";

export const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

function json(response, status, body, type = "application/json") {
  response.writeHead(status, { "Content-Type": type });
  response.end(JSON.stringify(body));
}

function problem(response, status, title, detail, field) {
  json(
    response,
    status,
    { type: "about:blank", title, status, detail, field },
    "application/problem+json",
  );
}

async function textOf(request) {
  const pieces = [];
  for await (const piece of request) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

async function servePage(dist, url, response) {
  const name = url.pathname === "/" ? "/index.html" : path.posix.normalize(url.pathname);
  const type = types[path.extname(name)];
  try {
    const contents = await readFile(path.join(dist, name));
    response.writeHead(200, {
      "Content-Type": type,
      "Content-Security-Policy": contentPolicy,
      "X-Content-Type-Options": "nosniff",
    });
    response.end(contents);
  } catch {
    problem(response, 404, "Not found", `${url.pathname} is not here`);
  }
}

/** State that requests change, so that the page's own changes can be seen again. */
function freshState(options) {
  return {
    collections: structuredClone(options.empty ? [] : data.collections),
    models: structuredClone(options.empty ? [] : data.models),
    jobs: structuredClone(options.empty ? [] : data.jobs),
    feedback: [],
    uploads: [],
    submitted: [],
    queries: [],
    key: options.key ?? "",
    step: 24,
  };
}

function answerQuery(state, name, body, response) {
  const collection = state.collections.find((one) => one.name === name);
  if (!collection) {
    return problem(response, 404, "Not found", `There is no collection "${name}"`);
  }
  state.queries.push({ collection: name, ...body });
  if (body.filter?.includes("!!")) {
    return problem(
      response,
      400,
      "Bad request",
      'filter, position 8: "!!" is not an operator',
      "filter",
    );
  }
  const model = collection.settings.model;
  return json(response, 200, {
    answers: body.question.includes("nothing") ? [] : data.answers.slice(0, body.top),
    collection: name,
    model,
    pipeline: model ? (body.pipeline ?? "blend") : "bm25",
    blend: model ? "4*document + 1.5*headings + 0.3*chunks + 1*bm25" : "1*bm25",
    ...(model ? {} : { notice: "no model: answered by BM25 alone" }),
    took_ms: 12.4,
  });
}

function changeModel(state, name, body, response) {
  const collection = state.collections.find((one) => one.name === name);
  collection.switching = { model: body.model, share: 0.25 };
  const timer = setInterval(() => {
    collection.switching.share += 0.25;
    if (collection.switching.share >= 1) {
      collection.settings.model = body.model;
      collection.switching = null;
      clearInterval(timer);
    }
  }, 400);
  timer.unref();
  return json(response, 200, collection);
}

function submitJob(state, body, response) {
  if (body.name === "refused") {
    return problem(response, 400, "Bad request", "name 'refused' is in use", "name");
  }
  state.submitted.push(body);
  const job = {
    ...data.jobs[0],
    id: `${body.name}-20260602-090000-0001`,
    name: body.name,
    kind: body.kind,
  };
  state.jobs.unshift(job);
  return json(response, 202, job);
}

function streamEvents(state, job, request, response) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  let sent = Number(request.headers["last-event-id"] ?? 0);
  const send = () => {
    const done = job.state === "running" ? state.step : data.trainSteps;
    const lines =
      job.state === "failed" ? data.failedEvents : data.eventsUntil(done, job.state === "done");
    for (; sent < lines.length; ++sent) {
      response.write(`id: ${sent + 1}\ndata: ${JSON.stringify(lines[sent])}\n\n`);
    }
    if (job.state !== "running") {
      response.end(`event: end\ndata: ${JSON.stringify(job)}\n\n`);
      clearInterval(timer);
      return;
    }
    state.step = Math.min(data.trainSteps, state.step + 1);
  };
  const timer = setInterval(send, 150);
  response.on("close", () => clearInterval(timer));
  send();
}

async function serveJob(state, request, response, parts) {
  const job = state.jobs.find((one) => one.id === parts[2]);
  if (!job) {
    return problem(response, 404, "Not found", `There is no job "${parts[2]}"`);
  }
  if (parts[3] === "events") {
    return streamEvents(state, job, request, response);
  }
  if (parts[3] === "log") {
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" });
    return response.end(data.log);
  }
  if (request.method === "DELETE") {
    job.state = "cancelled";
    return json(response, 202, job);
  }
  if (parts[3] === "resume") {
    job.state = "running";
    return json(response, 202, job);
  }
  return json(response, 200, job);
}

async function serveModels(state, request, response, parts) {
  if (parts.length === 2) {
    return json(response, 200, { object: "list", data: state.models });
  }
  const [name, version] = parts[2].split("@");
  const model = state.models.find(
    (one) => one.name === name && (!version || one.version === version),
  );
  if (!model) {
    return json(response, 404, { error: { message: `There is no model "${parts[2]}"` } });
  }
  if (parts[3] === "default" && request.method === "PUT") {
    state.models.forEach((one) => (one.default = one === model));
    return json(response, 200, model);
  }
  return json(response, 200, { ...model, provenance: data.provenance[name] ?? {} });
}

async function serveInterface(state, request, response, parts) {
  if (state.key !== "" && request.headers.authorization !== `Bearer ${state.key}`) {
    return problem(response, 401, "Unauthorized", "An API key is needed");
  }
  const text = await textOf(request);
  if (parts[1] === "uploads") {
    state.uploads.push(text);
    return json(response, 201, { id: "5feceb66.jsonl", bytes: text.length, name: "pairs.jsonl" });
  }
  const body = text === "" ? {} : JSON.parse(text);
  if (parts[1] === "jobs" && parts.length === 2 && request.method === "POST") {
    return submitJob(state, body, response);
  }
  if (parts[1] === "collections" && parts.length === 2) {
    return json(response, 200, { collections: state.collections });
  }
  if (parts[1] === "collections" && parts[3] === "query") {
    return answerQuery(state, parts[2], body, response);
  }
  if (parts[1] === "collections" && parts.length === 3) {
    const collection = state.collections.find((one) => one.name === parts[2]);
    if (!collection) {
      return problem(response, 404, "Not found", `There is no collection "${parts[2]}"`);
    }
    return request.method === "PUT"
      ? changeModel(state, parts[2], body, response)
      : json(response, 200, collection);
  }
  if (parts[1] === "feedback") {
    state.feedback.push(body);
    return json(response, 201, body);
  }
  if (parts[1] === "models") {
    return serveModels(state, request, response, parts);
  }
  if (parts[1] === "jobs") {
    return parts.length === 2
      ? json(response, 200, { jobs: state.jobs })
      : serveJob(state, request, response, parts);
  }
  return problem(response, 404, "Not found", `/${parts.join("/")} is not here`);
}

/** Starts the double on a free port; options: empty (nothing there yet), key (an API key is wanted). */
export async function startDouble(dist, options = {}) {
  const state = freshState(options);
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    const parts = url.pathname.split("/").slice(1).map(decodeURIComponent);
    const served =
      parts[0] === "v1"
        ? serveInterface(state, request, response, parts)
        : servePage(dist, url, response);
    served.catch((error) => problem(response, 500, "Internal", String(error)));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const address = `http://127.0.0.1:${server.address().port}`;
  const stop = () => {
    server.closeAllConnections();
    return new Promise((stopped) => server.close(stopped));
  };
  return { address, state, stop };
}
