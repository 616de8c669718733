// Starts the real program on a data directory of its own.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";

const readyMs = 60_000;
const stopMs = 30_000;

async function freePort() {
  const server = createServer();
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

async function waitUntilReady(address, child, output) {
  const end = Date.now() + readyMs;
  while (Date.now() < end) {
    if (child.exitCode !== null) {
      throw new Error(`sibyl serve ended with ${child.exitCode}:\n${output.join("")}`);
    }
    const ready = await fetch(`${address}/health/ready`).then(
      (reply) => reply.ok,
      () => false,
    );
    if (ready) {
      return;
    }
    await new Promise((later) => setTimeout(later, 100));
  }
  child.kill("SIGKILL");
  throw new Error(`sibyl serve was not ready after ${readyMs} ms:\n${output.join("")}`);
}

/** `command(...arguments)` runs `sibyl` on the same data directory; `stop` drains and removes it. */
export async function startServer(program) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "sibyl-page-"));
  const address = `http://127.0.0.1:${await freePort()}`;
  const serve = [
    "--data",
    folder,
    "serve",
    "--http",
    address.slice(7),
    "--grpc",
    `127.0.0.1:${await freePort()}`,
  ];
  const child = spawn(program, serve, { stdio: ["ignore", "pipe", "pipe"] });
  const output = [];
  child.stdout.on("data", (piece) => output.push(String(piece)));
  child.stderr.on("data", (piece) => output.push(String(piece)));
  await waitUntilReady(address, child, output);
  const command = (...rest) => {
    const done = spawnSync(program, ["--data", folder, ...rest], {
      encoding: "utf8",
      timeout: readyMs,
    });
    if (done.status !== 0) {
      throw new Error(
        `sibyl ${rest.join(" ")} ended with ${done.status}:\n${done.stdout}${done.stderr}`,
      );
    }
    return done.stdout;
  };
  const stop = async () => {
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
    const code = await ended;
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true });
    return { code, output: output.join("") };
  };
  return { address, command, stop };
}
