import { readFileSync } from "node:fs";

import { defineConfig } from "vitest/config";
import type { Plugin } from "vite";

// SIBYL_SERVER: where `npm run dev` sends the interface's addresses.
const server = process.env["SIBYL_SERVER"] ?? "http://127.0.0.1:8080";

/** What is packed into the page comes with its licence: /licences.txt. */
function licences(...packages: string[]): Plugin {
  return {
    name: "licences",
    generateBundle() {
      const texts = packages.map((name) => {
        const text = readFileSync(`node_modules/${name}/LICENSE`, "utf8");
        return `${name}\n\n${text.trim()}\n`;
      });
      this.emitFile({ type: "asset", fileName: "licences.txt", source: texts.join("\n\n") });
    },
  };
}

export default defineConfig({
  plugins: [licences("preact", "uplot")],
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
