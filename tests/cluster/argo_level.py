# SPDX-License-Identifier: Apache-2.0
"""Argo's own controller: a workflow runs through, lost nodes are survived, bugs not repeated, the GPU node goes."""

import json
import unittest

import cluster as c
import rendering as r

GPU = "gke-gpu-nodepool-0"
SHUTDOWN = "Pod was terminated in response to imminent node shutdown."
HELD = ("--set-string", r"trainer.podAnnotations.sim\.sibyl\.dev/hold=true", "--set", "trainer.backoff.duration=1s")


class Argo(unittest.TestCase):
    def setUp(self):
        c.no_nodes()
        c.pools("gke")
        self.space = "a-" + self.id().rsplit("test_", 1)[1].replace("_", "-")[:50]
        c.namespace(self.space)
        c.volumes(self.space, 3)

    def tearDown(self):
        c.clean()

    def start(self, *arguments, kind="supervised"):
        c.run("helm", "install", "sibyl", r.CHART, "-n", self.space, *arguments)
        c.wait("the executor's token", lambda: c.get("secret", "sibyl-executor-token", "-n", self.space).get("data"))
        c.apply(
            {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "Workflow",
                "metadata": {"name": "run1", "namespace": self.space},
                "spec": {"workflowTemplateRef": {"name": f"sibyl-{kind}"}},
            },
            namespace=self.space,
        )

    def pods(self, step, phases=("Running",)):
        found = c.get("pods", "-n", self.space, "-l", "workflows.argoproj.io/workflow=run1")["items"]
        return [
            p
            for p in found
            if f".{step}" in p["metadata"]["annotations"]["workflows.argoproj.io/node-name"]
            and p["status"].get("phase") in phases
        ]

    def running(self, step, but=()):
        seen = {p["metadata"]["uid"] for p in but}
        return c.wait(f"{step} to run", lambda: [p for p in self.pods(step) if p["metadata"]["uid"] not in seen])[0]

    def phase(self):
        return c.get("workflow", "run1", "-n", self.space).get("status", {}).get("phase")

    def end(self):
        return c.wait(
            "the workflow to end", lambda: (lambda p: p in ("Succeeded", "Failed", "Error") and p)(self.phase()), 120
        )

    def through(self, *steps):
        for step in steps:
            c.finish(self.running(step), "Succeeded", 0)

    def test_it_runs_through_and_the_gpu_node_goes(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        first = self.running("prepare")
        self.assertEqual(first["spec"]["nodeName"], GPU)
        c.finish(first, "Succeeded", 0)
        train = self.running("train")
        main = next(x for x in train["spec"]["containers"] if x["name"] == "main")
        self.assertEqual((train["spec"]["nodeName"], main["resources"]["limits"]["nvidia.com/gpu"]), (GPU, "1"))
        self.assertEqual(train["spec"]["terminationGracePeriodSeconds"], 15)
        may, why = c.scaledown(GPU)
        self.assertFalse(may, why)
        c.finish(train, "Succeeded", 0)
        self.through("evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")
        live = [
            p["metadata"]["name"]
            for p in c.get("pods", "-A", "--field-selector", f"spec.nodeName={GPU}")["items"]
            if p["status"]["phase"] not in ("Succeeded", "Failed")
        ]
        self.assertEqual(live, [])
        may, why = c.scaledown(GPU)
        self.assertTrue(may, why)

    def test_a_node_that_shuts_down(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")
        first = self.running("train")
        c.finish(first, "Failed", 137, SHUTDOWN)
        second = self.running("train", but=[first])
        c.finish(second, "Failed", 75)
        c.finish(self.running("train", but=[first, second]), "Succeeded", 0)
        self.through("evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")

    def test_a_node_that_vanishes(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")
        first = self.running("train")
        c.kubectl("delete", "node", GPU)
        c.wait(
            "the lost pod to be collected",
            lambda: (
                not [
                    p
                    for p in self.pods("train", ("Running", "Failed", "Pending"))
                    if p["metadata"]["uid"] == first["metadata"]["uid"]
                ]
            ),
            180,
        )
        c.pools("gke")
        c.finish(self.running("train", but=[first]), "Succeeded", 0)
        self.through("evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")

    def test_a_failing_program_is_not_repeated(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")
        c.finish(self.running("train"), "Failed", 65)
        self.assertEqual(self.end(), "Failed")
        nodes = c.get("workflow", "run1", "-n", self.space)["status"]["nodes"].values()
        self.assertEqual(len([n for n in nodes if n["type"] == "Pod" and n["displayName"].startswith("train")]), 1)

    def test_it_falls_back_to_another_pool(self):
        c.no_nodes()
        c.pools("gke", "--spot")
        self.start("-f", r.preset("gke-spot"), "--set", "trainer.fallback.after=1", *HELD)
        self.through("prepare")
        first = self.running("train")
        self.assertEqual(first["spec"]["nodeSelector"]["cloud.google.com/gke-spot"], "true")
        c.finish(first, "Failed", 137, SHUTDOWN)
        second = c.wait("the fallback", lambda: self.pods("train", ("Pending", "Running")))[0]
        self.assertEqual(second["spec"]["nodeSelector"], {"cloud.google.com/gke-nodepool": "gpu-on-demand-nodepool"})
        self.assertEqual(second["spec"]["terminationGracePeriodSeconds"], 15)
        self.assertNotIn("cloud.google.com/gke-spot", json.dumps(second["spec"]["tolerations"]))

    def test_programs_hold_no_token(self):
        """Where restricted pods are enforced: only Argo's container and the step deploy speak to the API server."""
        self.start(*HELD)
        for step in ("prepare", "train", "evaluate", "publish", "deploy"):
            pod = self.running(step)
            main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
            mounted = [m["mountPath"] for m in main["volumeMounts"] if "serviceaccount" in m["mountPath"]]
            self.assertEqual(len(mounted), 1 if step == "deploy" else 0, step)
            c.finish(pod, "Succeeded", 0)
        self.assertEqual(self.end(), "Succeeded")

    def test_a_node_that_never_comes_ends_the_run(self):
        c.kubectl("delete", "node", GPU)
        self.start("-f", r.QUESTION_ANSWERING, "--set", "trainer.timeoutMinutes.run=1", *HELD)
        self.assertEqual(self.end(), "Failed")
        c.wait("the waiting pod to be gone", lambda: not self.pods("", ("Pending", "Running")))

    def test_evaluation_is_two_steps(self):
        self.start(*HELD, kind="evaluation")
        self.through("prepare", "evaluate")
        self.assertEqual(self.end(), "Succeeded")
