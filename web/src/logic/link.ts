/**
 * The address to link to, or null: documents come from anywhere, so nothing but http and https may
 * become a link (a "javascript:" address would run in this page).
 */
export function linkOf(url: string | null | undefined): string | null {
  if (!url) {
    return null;
  }
  try {
    const parsed = new URL(url);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null; // a relative address: nobody knows what it is relative to
  }
}
