"""What the end-to-end tests share: the program, a fresh data directory a test, a server."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ.get("SIBYL_PROGRAM", "build/release/sibyl")
TEST_DATA = os.environ.get("SIBYL_TEST_DATA", "tests/data")
BERT = os.path.join(TEST_DATA, "model", "bert")
STATIC = os.path.join(TEST_DATA, "model", "static")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sibyl-cli-")
        self.addCleanup(self.folder.cleanup)
        self.data = self.path("data")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def write_rows(self, name, rows):
        return self.write(name, "".join(json.dumps(row) + "\n" for row in rows))

    def sibyl(self, *arguments, expect=0, stdin=None, env=None, timeout_s=120, data=None):
        """Runs the program; its result, with the exit status checked."""
        command = [PROGRAM, "--data", data or self.data, *arguments]
        done = subprocess.run(command, input=stdin if stdin is not None else b"", timeout=timeout_s,
                              capture_output=True, env={**os.environ, **(env or {})})
        done.out, done.err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        self.assertEqual(done.returncode, expect,
                         f"{' '.join(arguments)}\nstdout: {done.out[-2000:]}\nstderr: {done.err[-2000:]}")
        return done

    def sibyl_json(self, *arguments, **options):
        return json.loads(self.sibyl("--json", *arguments, **options).out)

    def serve(self, *arguments, data=None, env=None):
        """A server on a free port; its address. It is stopped when the test ends."""
        port = free_port()
        log = open(self.path("server.log"), "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [PROGRAM, "--data", data or self.data, "serve", "--http", f"127.0.0.1:{port}", "--grpc", "",
             *arguments], stdout=log, stderr=log, env={**os.environ, **(env or {})})

        def stop():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(60)

        self.addCleanup(stop)
        end = time.time() + 60
        while time.time() < end:
            self.assertIsNone(process.poll(), self.read("server.log"))
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    return process, f"127.0.0.1:{port}"
            except OSError:
                time.sleep(0.05)
        self.fail("the server did not start")

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()


def main():
    """Runs the tests of the calling file; 77 when all of them were skipped."""
    result = unittest.main(exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f"skipped {test}: {reason}", file=sys.stderr)
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        sys.exit(77)
    sys.exit(not result.wasSuccessful())


def strip_times(text):
    return re.sub(r"in [0-9.]+ s", "in T", text)
