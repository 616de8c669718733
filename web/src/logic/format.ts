/** Figures and times in the words of the page. Nothing to show is an en dash. */
export const kNothing = "–";

const whole = new Intl.NumberFormat("en");

export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? kNothing
    : whole.format(Math.round(value));
}

/** Scores and metrics: three digits after the point, a real minus sign, no digits that say nothing. */
export function formatScore(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return kNothing;
  }
  const digits = Math.abs(value) >= 100 ? 1 : 3;
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

/** Learning rates and the like, where three digits after the point would be 0. */
export function formatFigure(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return kNothing;
  }
  if (Number.isInteger(value)) {
    return whole.format(value);
  }
  const size = Math.abs(value);
  return (
    size < 0.001 || size >= 1e6 ? value.toExponential(2) : String(Number(value.toPrecision(4)))
  )
    .replace(/^-/, "−")
    .replace(/e-/, "e−");
}

export function formatBytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value) || value < 0) {
    return kNothing;
  }
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    ++unit;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds) || seconds < 0) {
    return kNothing;
  }
  if (seconds < 1) {
    return "under a second";
  }
  const rounded = Math.round(seconds);
  if (rounded < 60) {
    return `${rounded} s`;
  }
  const minutes = Math.floor(rounded / 60);
  if (minutes < 60) {
    return `${minutes} min ${rounded % 60} s`;
  }
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function formatMilliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return kNothing;
  }
  return value < 10
    ? `${value.toFixed(1)} ms`
    : value < 1000
      ? `${Math.round(value)} ms`
      : `${(value / 1000).toFixed(1)} s`;
}

export function formatShare(value: number): string {
  return `${Math.round(Math.min(1, Math.max(0, value)) * 100)} %`;
}

export function formatTime(date: Date | null): string {
  return date === null
    ? kNothing
    : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
