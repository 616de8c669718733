import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Empty } from "./parts/basics";
import { Icon } from "./parts/icons";
import { KeyGate } from "./parts/key_gate";
import { AskPage } from "./pages/ask/ask_page";
import { CollectionPage } from "./pages/collections/collection_page";
import { CollectionsPage } from "./pages/collections/collections_page";
import { JobPage } from "./pages/jobs/job_page";
import { JobsPage } from "./pages/jobs/jobs_page";
import { ModelsPage } from "./pages/models/models_page";
import { routeHref, useRoute, type Route } from "./router";
import { applyTheme, nextTheme, storedTheme, type Theme } from "./theme";

const kPlaces: { route: Route; label: string; pages: Route["page"][] }[] = [
  { route: { page: "ask", collection: "", question: "" }, label: "Ask", pages: ["ask"] },
  { route: { page: "collections" }, label: "Collections", pages: ["collections", "collection"] },
  { route: { page: "models" }, label: "Models", pages: ["models"] },
  { route: { page: "jobs" }, label: "Jobs", pages: ["jobs", "job"] },
];

const kThemeNames: Record<Theme, string> = {
  system: "as the system",
  light: "light",
  dark: "dark",
};
const kThemeIcons = { system: "system", light: "sun", dark: "moon" } as const;

function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState(storedTheme);
  const next = nextTheme(theme);
  const label = `Colours: ${kThemeNames[theme]}. Change to: ${kThemeNames[next]}`;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => {
        applyTheme(next);
        setTheme(next);
      }}
    >
      <Icon name={kThemeIcons[theme]} />
    </button>
  );
}

function TopBar({ route }: { route: Route }): JSX.Element {
  return (
    <header class="top-bar">
      <div class="top-bar-inner">
        <a class="brand" href="#/ask" aria-label="Sibyl, to the question">
          <img src="/favicon.svg" alt="" width="28" height="28" />
          <span>Sibyl</span>
        </a>
        <nav aria-label="Main">
          <ul>
            {kPlaces.map((place) => (
              <li key={place.label}>
                <a
                  href={routeHref(place.route)}
                  aria-current={place.pages.includes(route.page) ? "page" : undefined}
                >
                  {place.label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <ThemeButton />
      </div>
    </header>
  );
}

function Place({ route }: { route: Route }): JSX.Element {
  switch (route.page) {
    case "ask":
      return <AskPage route={route} />;
    case "collections":
      return <CollectionsPage />;
    case "collection":
      return <CollectionPage key={route.name} name={route.name} />;
    case "models":
      return <ModelsPage />;
    case "jobs":
      return <JobsPage />;
    case "job":
      return <JobPage key={route.id} id={route.id} />;
    case "unknown":
      return (
        <Empty title="There is no such page">
          <code>{route.path}</code> is not a place here. <a href="#/ask">Ask a question</a> instead.
        </Empty>
      );
  }
}

function placeKey(route: Route): string {
  return route.page === "collection"
    ? `collection/${route.name}`
    : route.page === "job"
      ? `job/${route.id}`
      : route.page;
}

export function App(): JSX.Element {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const place = placeKey(route);
  const first = useRef(true);
  useEffect(() => {
    // Not on the first page: the browser's own start is where people expect to be.
    if (!first.current) {
      window.scrollTo(0, 0);
      main.current?.querySelector<HTMLElement>("h1")?.focus();
    }
    first.current = false;
  }, [place]);

  return (
    <>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          event.preventDefault(); // the hash is the route
          main.current?.focus();
        }}
      >
        To the content
      </a>
      <TopBar route={route} />
      <main id="main" ref={main} tabIndex={-1} class={`page page-${route.page}`}>
        <KeyGate>
          <Place route={route} />
        </KeyGate>
      </main>
    </>
  );
}
