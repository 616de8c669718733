import { defineConfig } from "vitest/config";

// SIBYL_SERVER: where `npm run dev` sends the interface's addresses.
const server = process.env["SIBYL_SERVER"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"], // the first that know light-dark()
    // The strict content policy allows neither inline scripts nor data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { "/v1": server, "/health": server, "/openapi.json": server },
  },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
