import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { getCollection } from "../../api/client";
import type { Collection, CollectionSettings } from "../../api/types";
import { formatBytes, formatCount, plural } from "../../logic/format";
import { Facts, PageTitle, ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";
import { routeHref } from "../../router";
import { ModelSwitch } from "./model_switch";

function chunkingText(chunking: CollectionSettings["chunking"]): string {
  if (chunking === undefined || chunking === "off") {
    return "off";
  }
  return `${plural(chunking.tokens, "token")}, ${chunking.overlap} shared with the next`;
}

function segmentsText(collection: Collection): string {
  const sealed = plural(collection.segments, "sealed segment");
  return collection.deletedRows === 0
    ? sealed
    : `${sealed}, ${plural(collection.deletedRows, "deleted row")} until the next compaction`;
}

function Settings({ collection }: { collection: Collection }): JSX.Element {
  const { settings } = collection;
  return (
    <section class="card" aria-labelledby="settings-title">
      <h2 id="settings-title">Contents and settings</h2>
      <Facts
        rows={[
          ["Documents", formatCount(collection.rows)],
          ["Segments", segmentsText(collection)],
          ["On disk", formatBytes(collection.diskBytes)],
          ["Language", settings.language ?? "en"],
          ["Pipeline", <code>{settings.pipeline ?? "blend"}</code>],
          ["Chunks", chunkingText(settings.chunking)],
        ]}
      />
    </section>
  );
}

export function CollectionPage({ name }: { name: string }): JSX.Element {
  const [fast, setFast] = useState(false);
  const { value, problem, reload } = useResource(
    `collection/${name}`,
    async (signal) => {
      const collection = await getCollection(name, signal);
      setFast(collection.switchingTo !== null);
      return collection;
    },
    fast ? 1000 : 10_000,
  );
  return (
    <>
      <nav class="trail" aria-label="Trail">
        <a href="#/collections">Collections</a>
      </nav>
      <PageTitle
        aside={
          <a
            class="button button-main"
            href={routeHref({ page: "ask", collection: name, question: "" })}
          >
            Ask
          </a>
        }
      >
        {name}
      </PageTitle>
      {problem && <ProblemNotice problem={problem} retry={reload} />}
      {value === null && !problem && <Spinner label="Looking at the collection" />}
      {value !== null && (
        <div class="two-columns">
          <Settings collection={value} />
          <ModelSwitch
            collection={value}
            onSwitched={() => {
              setFast(true);
              reload();
            }}
          />
        </div>
      )}
    </>
  );
}
