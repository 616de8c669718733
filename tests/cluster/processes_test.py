#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs that the pods run, with the rendered arguments: a training that is interrupted and goes on, the model
server that serves what was published, the answer server that answers through it.

    processes_test.py [Training|Serving]
"""

import hashlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

import executor
import rendering as r

TOPICS = ["lamp", "chair", "table", "shelf", "carpet", "mirror", "window", "door", "stove", "clock", "kettle", "piano"]
KEY = "0123456789abcdef"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def call(url, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url, data, {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read())


def documents():
    return [
        {
            "id": f"d-{t}-{i}",
            "title": f"Care of the {t} number {i}",
            "text": f"The {t} of model {i} is cleaned with water. Every {t} is checked in spring."
            f" A broken {t} is repaired by the shop.",
        }
        for t in TOPICS
        for i in range(6)
    ]


class Local(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sibyl-cluster-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("keys.jsonl"), "w", encoding="utf-8") as file:
            file.write(json.dumps({"name": "steps", "sha256": hashlib.sha256(KEY.encode()).hexdigest()}) + "\n")
        self.log = self.path("log.txt")
        self.port = free_port()
        self.answers = f"http://127.0.0.1:{self.port}"

    def path(self, name):
        return os.path.join(self.folder, name)

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()[-4000:]

    def start(self, args, env, port):
        """A server as a pod starts it; skips where this version says that the part is not built."""
        with open(self.log, "ab") as log:
            process = subprocess.Popen([executor.PROGRAM, *args], env={**os.environ, **env}, stdout=log, stderr=log)

        def stop():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

        self.addCleanup(stop)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if process.poll() is not None:
                if process.returncode == 69 and "not built yet" in self.said():
                    self.skipTest(self.said().strip().splitlines()[-1])
                self.fail(f"{args}: exit {process.returncode}\n{self.said()}")
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    return process
            except OSError:
                time.sleep(0.05)
        self.fail(f"{args} did not open its port\n{self.said()}")

    def start_answers(self, objects, encoder):
        """The answer server with the rendered arguments."""
        container = objects["StatefulSet", "sibyl-answers"]["spec"]["template"]["spec"]["containers"][0]
        args = [executor.literal(a) for a in container["args"]]
        replace = {
            "0.0.0.0:8080": f"127.0.0.1:{self.port}",
            "0.0.0.0:19530": "",
            "/etc/sibyl/keys/keys.jsonl": self.path("keys.jsonl"),
        }
        args = [replace.get(a, a) for a in args]
        at = args.index("--encoder") + 1
        args[at] = args[at].split("+")[0] + "+" + encoder
        return self.start(args, {"SIBYL_DATA": self.path("data")}, self.port)

    def workflow(self, job):
        """The coldstart workflow over a workspace that holds the job and its file, as an upload leaves it."""
        objects = r.render(values={"serving": {"kind": "none"}})
        os.makedirs(self.path("workspace/run1"))
        with open(self.path("workspace/run1/texts.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(d) + "\n" for d in documents())
        with open(self.path("workspace/run1/job.json"), "w", encoding="utf-8") as file:
            json.dump(
                {
                    "format": 1,
                    "job": {"kind": "coldstart", "name": "helpdesk", "base": "static_custom", "device": "cpu", **job},
                },
                file,
            )
        replace = {"/workspace/": self.path("workspace/"), "http://sibyl-answers.default.svc:8080": self.answers}
        return executor.Workflow(
            objects["WorkflowTemplate", "sibyl-coldstart"], "run1", replace, {("sibyl-api-keys", "key"): KEY}, self.log
        )

    def events(self):
        with open(self.path("workspace/run1/events.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]


class Training(Local):
    def test_an_interrupted_training_goes_on(self):
        workflow = self.workflow(
            {"data": {"texts": "texts.jsonl"}, "train": {"cold_epochs": 1000, "patience": 0, "dimension": 16}}
        )

        def training():
            return any(e["step"] == "train" and e["event"] == "progress" for e in self.events())

        attempts = workflow.run({"train": training}, last="evaluate")
        self.assertEqual(attempts, [("prepare", 0), ("train", 75), ("train", 0), ("evaluate", 0)], self.said())
        epochs = [
            e["epoch"] for e in self.events() if e["event"] == "metric" and e.get("stage") == "cold" and e.get("epoch")
        ]
        self.assertEqual(sorted(set(epochs))[-1], 1000)
        self.assertLess(len(epochs), 1100, "the second attempt goes on and does not begin anew")
        self.assertTrue(os.path.exists(self.path("workspace/run1/report/evaluation.json")))

    def test_a_failing_step_ends_the_workflow(self):
        workflow = self.workflow({"data": {"texts": "nowhere.jsonl"}})
        self.assertEqual(workflow.run(), [("prepare", 66)], self.said())


class Serving(Local):
    def test_the_published_model_is_served_and_answers_go_through_it(self):
        objects = r.render(values={"serving": {"kind": "deployment"}})
        model_port, grpc_port = free_port(), free_port()
        model = f"http://127.0.0.1:{model_port}"
        self.start_answers(objects, encoder=model)
        workflow = self.workflow({"data": {"texts": "texts.jsonl"}, "train": {"cold_epochs": 2, "dimension": 32}})
        self.assertEqual(workflow.run()[-1], ("publish", 0), self.said())
        container = objects["Deployment", "sibyl-model-helpdesk"]["spec"]["template"]["spec"]["containers"][0]
        replace = {"0.0.0.0:8080": f"127.0.0.1:{model_port}", "0.0.0.0:8081": f"127.0.0.1:{grpc_port}"}
        args = [
            replace.get(a, a).replace("http://sibyl-answers.default.svc:8080", self.answers)
            for a in map(executor.literal, container["args"])
        ]
        self.start(args, {"SIBYL_API_KEY": KEY}, model_port)
        reply = call(
            model + "/v2/models/helpdesk/infer",
            {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a piano"]}]},
        )
        self.assertEqual(reply["outputs"][0]["shape"], [1, 32])
        call(self.answers + "/v1/collections/house", {"model": "helpdesk"}, "PUT")
        call(self.answers + "/v1/collections/house/documents", documents())
        # The answer server asked for the model long before it was there, so its next look may be some seconds away.
        until = time.monotonic() + 120
        while True:
            reply = call(self.answers + "/v1/collections/house/query", {"question": "who repairs a broken piano?"})
            self.assertTrue(reply["answers"][0]["id"].startswith("d-piano-"), reply)
            if "document" in reply["answers"][0]["retrievals"]:
                break
            self.assertLess(time.monotonic(), until, reply)
            time.sleep(0.2)


if __name__ == "__main__":
    r.main()
