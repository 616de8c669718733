import type { JSX } from "preact";

import { listCollections } from "../../api/client";
import type { Collection } from "../../api/types";
import { formatBytes, formatCount, formatShare } from "../../logic/format";
import { Empty, PageTitle, ProblemNotice, Spinner } from "../../parts/basics";
import { useResource } from "../../parts/use_resource";
import { routeHref } from "../../router";

function ModelCell({ collection }: { collection: Collection }): JSX.Element {
  return (
    <>
      {collection.settings.model || <span class="quiet">none (BM25)</span>}
      {collection.switchingTo && (
        <span class="badge badge-running">
          to {collection.switchingTo}: {formatShare(collection.switchedShare)}
        </span>
      )}
    </>
  );
}

function CollectionTable({ collections }: { collections: Collection[] }): JSX.Element {
  return (
    <div class="card table-card">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="figure">
              Documents
            </th>
            <th scope="col">Model</th>
            <th scope="col">Pipeline</th>
            <th scope="col" class="figure">
              Segments
            </th>
            <th scope="col" class="figure">
              On disk
            </th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {collections.map((collection) => (
            <tr key={collection.name}>
              <th scope="row">
                <a href={routeHref({ page: "collection", name: collection.name })}>
                  {collection.name}
                </a>
              </th>
              <td class="figure" data-label="Documents">
                {formatCount(collection.rows)}
              </td>
              <td data-label="Model">
                <ModelCell collection={collection} />
              </td>
              <td data-label="Pipeline">{collection.settings.pipeline ?? "blend"}</td>
              <td class="figure" data-label="Segments">
                {formatCount(collection.segments)}
              </td>
              <td class="figure" data-label="On disk">
                {formatBytes(collection.diskBytes)}
              </td>
              <td class="actions">
                <a
                  class="button button-quiet"
                  href={routeHref({ page: "ask", collection: collection.name, question: "" })}
                  aria-label={`Ask ${collection.name}`}
                >
                  Ask
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function CollectionsPage(): JSX.Element {
  const { value, problem, reload } = useResource("collections", listCollections, 5000);
  return (
    <>
      <PageTitle lead="Documents that are searched together.">Collections</PageTitle>
      {problem && <ProblemNotice problem={problem} retry={reload} />}
      {value === null && !problem && <Spinner label="Looking at the collections" />}
      {value?.length === 0 && (
        <Empty title="No collections yet" command="sibyl add docs ./your-documents">
          The first documents make the first collection.
        </Empty>
      )}
      {value !== null && value.length > 0 && <CollectionTable collections={value} />}
    </>
  );
}
