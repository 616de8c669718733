# SPDX-License-Identifier: Apache-2.0
"""What tests of `sibyl cluster` share: the program, a folder of files, a job."""

import os
import subprocess
import sys
import tempfile
import unittest

import rendering as r

sys.path.insert(0, os.path.join(r.HERE, "..", "objects"))
import s3_double  # noqa: E402, F401

PROGRAM = os.environ.get("SIBYL_PROGRAM") or os.path.join(r.HERE, "..", "..", "build", "release", "sibyl")


class Program(unittest.TestCase):
    env = {}

    def setUp(self):
        if not os.access(PROGRAM, os.X_OK):
            self.skipTest(f"{PROGRAM} is not built")
        folder = tempfile.TemporaryDirectory(prefix="sibyl-commands-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("pairs.jsonl", '{"question": "who?", "answer": "me"}\n' * 3)
        self.job = self.write(
            "job.yaml", "kind: supervised\nname: helpdesk\nbase: static_custom\ndata: {pairs: pairs.jsonl}\n"
        )

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def sibyl(self, *arguments, expect=0, env=None):
        done = subprocess.run(
            [PROGRAM, "--data", self.path("data"), *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, **self.env, **(env or {})},
        )
        self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done
