/** What a failed request says: application/problem+json, or the nearest thing to it. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly field: string;

  constructor(status: number, title: string, detail: string, field = "") {
    super(detail === "" ? title : detail);
    this.name = "Problem";
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.field = field;
  }

  /** The server wants an API key, or another one. */
  get wantsKey(): boolean {
    return this.status === 401;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Reads the error out of a reply that is not 2xx; never throws. */
export async function problemOf(reply: Response): Promise<Problem> {
  const fallback = reply.statusText || `Status ${reply.status}`;
  let body = "";
  try {
    body = await reply.text();
    const json: unknown = JSON.parse(body);
    if (typeof json === "object" && json !== null) {
      const form = json as Record<string, unknown>;
      const nested = form["error"];
      const detail =
        text(form["detail"]) ||
        text(nested) ||
        (typeof nested === "object" && nested !== null
          ? text((nested as Record<string, unknown>)["message"])
          : "");
      return new Problem(
        reply.status,
        text(form["title"]) || fallback,
        detail,
        text(form["field"]),
      );
    }
  } catch {
    // Not JSON: a proxy's page, or a connection cut short. Its first line is all that helps.
  }
  const line = /^\s*</.test(body) ? "" : (body.split("\n", 1)[0] ?? "").slice(0, 300);
  return new Problem(reply.status, fallback, line);
}

/** Turns whatever was thrown into a Problem with words for people. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) {
    return error;
  }
  if (error instanceof TypeError) {
    return new Problem(
      0,
      "The server does not answer",
      "Is `sibyl serve` still running? The page tries again when you do.",
    );
  }
  return new Problem(
    0,
    "Something went wrong",
    error instanceof Error ? error.message : String(error),
  );
}
