/** Reading of JSON whose form is not taken on trust: a missing field gives a default, never a crash. */
export type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The list itself, or the list under one of the names. */
export function listOf(value: unknown, ...names: string[]): unknown[] {
  if (Array.isArray(value)) {
    return value;
  }
  const fields = fieldsOf(value);
  for (const name of names) {
    const inner = fields[name];
    if (Array.isArray(inner)) {
      return inner;
    }
  }
  return [];
}

/** A date from an ISO text, from seconds, or from microseconds since 1970; null for 0 and nonsense. */
export function dateOf(value: unknown): Date | null {
  if (typeof value === "string" && value !== "") {
    const date = new Date(value);
    return Number.isNaN(date.getTime()) ? null : date;
  }
  if (typeof value === "number" && value > 0) {
    return new Date(value > 1e14 ? value / 1000 : value * 1000);
  }
  return null;
}
