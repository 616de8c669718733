export type Theme = "system" | "light" | "dark";

const kStorageName = "sibyl.theme";
const kThemes: readonly Theme[] = ["system", "light", "dark"];

/** Told to drawings that hold colours of their own (the curve). */
export const kThemeEvent = "sibyl-theme";

export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(kStorageName);
    return kThemes.find((theme) => theme === stored) ?? "system";
  } catch {
    return "system";
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset["theme"];
  } else {
    document.documentElement.dataset["theme"] = theme;
  }
  try {
    localStorage.setItem(kStorageName, theme);
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
  window.dispatchEvent(new Event(kThemeEvent));
}

export function nextTheme(theme: Theme): Theme {
  return kThemes[(kThemes.indexOf(theme) + 1) % kThemes.length] ?? "system";
}
