import type { JSX } from "preact";

/** Drawn line icons, 20 by 20; they take the colour of the text and are hidden from readers. */
const kPaths = {
  search: "M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12Zm4.5-1.5L17 17",
  good: "M7 9.5 10 3.5c1.2 0 1.9.8 1.7 2L11.3 8H15c1 0 1.8.9 1.6 1.9l-1 5c-.2.9-.9 1.6-1.8 1.6H7m0-7v7m0-7H4v7h3",
  bad: "M13 10.5 10 16.5c-1.2 0-1.9-.8-1.7-2l.4-2.5H5c-1 0-1.8-.9-1.6-1.9l1-5c.2-.9.9-1.6 1.8-1.6H13m0 7v-7m0 7h3v-7h-3",
  sun: "M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  moon: "M16.5 11.8A7 7 0 0 1 8.2 3.5a7 7 0 1 0 8.3 8.3Z",
  system: "M3 4.5h14v9H3zM7.5 16.5h5",
  link: "M11.5 4H16v4.5M16 4l-7 7M14 11.5V16H4V6h4.5",
  info: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm0-7.5v4M10 6.5v.1",
  warning: "M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.2v.1",
  check: "M4.5 10.5 8.5 14.5 15.5 6",
  chevron: "M7.5 5 12.5 10 7.5 15",
  sliders: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
} as const;

export type IconName = keyof typeof kPaths;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={kPaths[name]} />
    </svg>
  );
}
