# SPDX-License-Identifier: Apache-2.0
"""Argo's controller again, where the cluster's own pauses decide: these tests begin first and run beside the others."""

import json
import os
import time

import cluster as c
import rendering as r
from argo_level import HELD, Runs


class Pauses(Runs):
    first = True

    def test_a_node_that_vanishes(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")
        lost = self.running("train")
        c.delete("node", c.gpu())
        uid = lost["metadata"]["uid"]
        there = lambda: any(p["metadata"]["uid"] == uid for p in c.items("pods", self.space))  # noqa: E731
        c.wait("the lost pod to be collected", lambda: not there(), 300)
        c.nodes()
        again = self.running("train", but=[lost])
        attempts = {
            n["displayName"]: (n["phase"], n.get("message"))
            for n in c.get("workflow", "run1", self.space)["status"]["nodes"].values()
        }
        self.assertEqual(attempts["train(0)"], ("Error", "pod deleted"))
        self.assertIn("train(1)", attempts)
        c.finish(again, "Succeeded", 0)
        self.through("evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")

    def test_a_node_that_never_comes_ends_the_run(self):
        c.delete("node", c.gpu())
        self.install("-f", r.QUESTION_ANSWERING, "--set", "trainer.timeoutMinutes.run=1", *HELD)
        # A run's deadline is counted in minutes; this one gets seconds.
        self.assertEqual(c.get("workflowtemplate", "sibyl-supervised", self.space)["spec"]["activeDeadlineSeconds"], 60)
        self.submit("run1", "supervised", activeDeadlineSeconds=10)
        c.wait("prepare to wait", lambda: self.pods("prepare", ("Pending",)))
        # A run in which nothing happens is looked at by the controller every 20 minutes (decision 151); any change is
        # looked at at once.
        for second in range(240):
            c.annotate("workflow", "run1", self.space, look=str(second))
            if self.phase() == "Failed":
                break
            self.assertEqual(len(self.pods("prepare", ("Pending",))), 1)
            time.sleep(1)
        self.assertGreaterEqual(second, 8, "not before its deadline")
        self.assertEqual(self.end(), "Failed")
        c.wait("the waiting pod to be gone", lambda: not self.pods("", ("Pending", "Running")))

    def test_a_schedule_starts_runs(self):
        job = {"kind": "supervised", "name": "helpdesk", "data": {"collection": "$(touch hostile) \"&anchor"}}
        path = r.values_file({"retraining": {"schedules": ["@every 5s"], "job": job}})
        self.addCleanup(os.unlink, path)
        self.install("-f", r.QUESTION_ANSWERING, "-f", path, *HELD)

        def prepare():
            found = c.items("pods", self.space, "sibyl.dev/step=prepare")
            return [p for p in found if p["status"].get("phase") == "Running"]

        pod = c.wait("the run of the schedule", prepare)[0]
        main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
        value = next(e["value"] for e in main["env"] if e["name"] == "SIBYL_JOB")
        self.assertEqual(json.loads(value.replace("$$(", "$(")), job)
