import { describe, expect, it } from "vitest";

import { parseRoute, routeHref, type Route } from "../src/router";

describe("routes", () => {
  const routes: Route[] = [
    { page: "ask", collection: "", question: "" },
    { page: "ask", collection: "a b", question: "50 % of & what? #1 = é" },
    { page: "collections" },
    { page: "collection", name: "faq/ä b?c" },
    { page: "models" },
    { page: "jobs" },
    { page: "job", id: "helpdesk-20260601-101500-7c1e" },
  ];
  it.each(routes)("come back from their address: %j", (route) => {
    expect(parseRoute(routeHref(route))).toEqual(route);
  });

  it("begin at the question", () => {
    for (const hash of ["", "#", "#/", "#/ask", "#ask"]) {
      expect(parseRoute(hash)).toEqual({ page: "ask", collection: "", question: "" });
    }
  });

  it("name the place that is not there", () => {
    expect(parseRoute("#/jobs/a/b")).toEqual({ page: "unknown", path: "/jobs/a/b" });
    expect(parseRoute("#/users")).toEqual({ page: "unknown", path: "/users" });
    expect(parseRoute("#/models/minilm").page).toBe("unknown");
  });

  it("take a stray percent sign as it stands", () => {
    expect(parseRoute("#/collections/50%")).toEqual({ page: "collection", name: "50%" });
  });

  it("keep question marks of the question", () => {
    expect(parseRoute("#/ask?q=why?")).toMatchObject({ question: "why?" });
  });
});
