/**
 * The API key that requests carry when the server wants one. It lives as long as the browser tab,
 * so that a shared machine does not keep it.
 */
const kStorageName = "sibyl.key";

export function apiKey(): string {
  try {
    return sessionStorage.getItem(kStorageName) ?? "";
  } catch {
    return ""; // storage is blocked: the page works without a key
  }
}

export function setApiKey(key: string): void {
  try {
    if (key === "") {
      sessionStorage.removeItem(kStorageName);
    } else {
      sessionStorage.setItem(kStorageName, key);
    }
  } catch {
    // Nothing to keep it in; the next request asks again.
  }
}

export function keyHeaders(): Record<string, string> {
  const key = apiKey();
  return key === "" ? {} : { Authorization: `Bearer ${key}` };
}
