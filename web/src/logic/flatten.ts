import { formatFigure } from "./format";

const kRowsMax = 200;
const kDepthMax = 6;

function leaf(value: unknown): string {
  if (typeof value === "number") {
    return formatFigure(value);
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Nested JSON as rows of "a › b" and value, for records whose form is free. */
export function flatten(value: unknown): [string, string][] {
  const rows: [string, string][] = [];
  const visit = (inner: unknown, path: string, depth: number): void => {
    if (inner === null || inner === undefined || rows.length >= kRowsMax) {
      return;
    }
    const nested =
      typeof inner === "object" && depth < kDepthMax && !isFlatList(inner)
        ? Object.entries(inner)
        : null;
    if (nested === null) {
      rows.push([path, leaf(inner)]);
      return;
    }
    for (const [name, child] of nested) {
      visit(child, path === "" ? name : `${path} › ${name}`, depth + 1);
    }
  };
  visit(value, "", 0);
  return rows;
}

function isFlatList(value: object): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null);
}
