import { useEffect, useState } from "preact/hooks";

export interface AskRoute {
  page: "ask";
  collection: string;
  question: string;
}

/**
 * Places of the page. They stand behind the `#`, so that every address of the server stays the
 * interface's and the page works from any of its copies without rules for unknown paths.
 */
export type Route =
  | AskRoute
  | { page: "collections" }
  | { page: "collection"; name: string }
  | { page: "models" }
  | { page: "jobs" }
  | { page: "job"; id: string }
  | { page: "unknown"; path: string };

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray percent sign is taken as it stands
  }
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter((part) => part !== "");
  const [first = "ask", second] = parts;
  if (parts.length <= 1) {
    switch (first) {
      case "ask": {
        const given = new URLSearchParams(query);
        return {
          page: "ask",
          collection: given.get("collection") ?? "",
          question: given.get("q") ?? "",
        };
      }
      case "collections":
      case "models":
      case "jobs":
        return { page: first };
    }
  }
  if (parts.length === 2 && second !== undefined) {
    if (first === "collections") {
      return { page: "collection", name: decode(second) };
    }
    if (first === "jobs") {
      return { page: "job", id: decode(second) };
    }
  }
  return { page: "unknown", path };
}

export function routeHref(route: Route): string {
  switch (route.page) {
    case "ask": {
      const query = new URLSearchParams();
      if (route.collection !== "") {
        query.set("collection", route.collection);
      }
      if (route.question !== "") {
        query.set("q", route.question);
      }
      const text = query.toString();
      return text === "" ? "#/ask" : `#/ask?${text}`;
    }
    case "collection":
      return `#/collections/${encodeURIComponent(route.name)}`;
    case "job":
      return `#/jobs/${encodeURIComponent(route.id)}`;
    case "unknown":
      return `#${route.path}`;
    default:
      return `#/${route.page}`;
  }
}

export function navigate(route: Route, replace = false): void {
  const href = routeHref(route);
  if (href === location.hash) {
    return;
  }
  if (replace) {
    history.replaceState(null, "", href);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = href;
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash));
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  return route;
}
