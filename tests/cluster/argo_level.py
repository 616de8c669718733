# SPDX-License-Identifier: Apache-2.0
"""Argo's own controller: a workflow runs through, lost nodes are survived, bugs not repeated, the GPU node goes."""

import json
import unittest

import cluster as c
import rendering as r

SHUTDOWN = "Pod was terminated in response to imminent node shutdown."
HELD = ("--set-string", r"trainer.podAnnotations.sim\.sibyl\.dev/hold=true", "--set", "trainer.backoff.duration=1s")


def on(*cloud):
    """The nodes that a test begins with, where they are not GKE's."""

    def marked(test):
        test.cloud = cloud
        return test

    return marked


class Runs(unittest.TestCase):
    """A run of Argo's, and what its simulated pods do."""

    def setUp(self):
        name = self.id().rsplit("test_", 1)[1]
        c.fresh_pools(*getattr(getattr(self, "test_" + name), "cloud", ["gke"]))
        self.space = c.namespace("a-" + name.replace("_", "-")[:50])

    def install(self, *arguments):
        c.run("helm", "install", "sibyl", r.CHART, "-n", self.space, *arguments)

    def start(self, *arguments, kind="supervised", **spec):
        self.install(*arguments)
        c.wait("the executor's token", lambda: c.get("secret", "sibyl-executor-token", self.space).get("data"))
        self.submit("run1", kind, **spec)

    def submit(self, name, kind, **spec):
        c.until_argo_knows(self.space, f"sibyl-{kind}")
        spec = {"workflowTemplateRef": {"name": f"sibyl-{kind}"}, **spec}
        meta = {"name": name, "namespace": self.space}
        c.create({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": meta, "spec": spec})

    def pods(self, step, phases=("Running",)):
        return [
            p
            for p in c.items("pods", self.space, "workflows.argoproj.io/workflow=run1")
            if f".{step}" in p["metadata"]["annotations"]["workflows.argoproj.io/node-name"]
            and p["status"].get("phase") in phases
        ]

    def running(self, step, but=()):
        seen = {p["metadata"]["uid"] for p in but}
        return c.wait(f"{step} to run", lambda: [p for p in self.pods(step) if p["metadata"]["uid"] not in seen])[0]

    def phase(self):
        return c.get("workflow", "run1", self.space).get("status", {}).get("phase")

    def end(self):
        ended = ("Succeeded", "Failed", "Error")
        return c.wait("the workflow to end", lambda: (lambda p: p in ended and p)(self.phase()))

    def through(self, *steps):
        for step in steps:
            c.finish(self.running(step), "Succeeded", 0)


class Argo(Runs):
    def test_it_runs_through_and_the_gpu_node_goes(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        first = self.running("prepare")
        self.assertEqual(first["spec"]["nodeName"], c.gpu())
        c.finish(first, "Succeeded", 0)
        train = self.running("train")
        main = next(x for x in train["spec"]["containers"] if x["name"] == "main")
        self.assertEqual((train["spec"]["nodeName"], main["resources"]["limits"]["nvidia.com/gpu"]), (c.gpu(), "1"))
        self.assertEqual(train["spec"]["terminationGracePeriodSeconds"], 15)
        may, why = c.scaledown(c.gpu())
        self.assertFalse(may, why)
        c.finish(train, "Succeeded", 0)
        self.through("evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")
        c.wait("finished pods to be gone", lambda: not self.pods("", ("Succeeded",)))
        live = [
            p["metadata"]["name"]
            for p in c.items("pods", fields=f"spec.nodeName={c.gpu()}")
            if p["status"]["phase"] not in ("Succeeded", "Failed")
        ]
        self.assertEqual(live, [])
        may, why = c.scaledown(c.gpu())
        self.assertTrue(may, why)

    def test_a_node_that_shuts_down(self):
        # A step whose lists are empty has none: it must not get what others have.
        none = "question-answering.{}.supervised.publish={}"
        empty = ("--set-json", none.format("nodeSelector", "{}"), "--set-json", none.format("tolerations", "[]"))
        self.start("-f", r.QUESTION_ANSWERING, *empty, *HELD)
        self.through("prepare")
        first = self.running("train")
        c.finish(first, "Failed", 137, SHUTDOWN)
        second = self.running("train", but=[first])
        c.finish(second, "Failed", 75)
        c.finish(self.running("train", but=[first, second]), "Succeeded", 0)
        self.through("evaluate")
        publish = self.running("publish")
        self.assertFalse(publish["spec"].get("nodeSelector"))
        self.assertNotIn("nvidia.com/gpu", [t.get("key") for t in publish["spec"]["tolerations"]])
        c.finish(publish, "Succeeded", 0)
        self.through("deploy")
        self.assertEqual(self.end(), "Succeeded")

    def test_a_failing_program_is_not_repeated(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")
        c.finish(self.running("train"), "Failed", 65)
        self.assertEqual(self.end(), "Failed")
        nodes = c.get("workflow", "run1", self.space)["status"]["nodes"].values()
        self.assertEqual(len([n for n in nodes if n["type"] == "Pod" and n["displayName"].startswith("train")]), 1)

    @on("gke", "--spot")
    def test_it_falls_back_to_another_pool(self):
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
            # A kubelet, which is not here, would not start a pod whose secrets are not there.
            secrets = [v["secret"]["secretName"] for v in pod["spec"]["volumes"] if "secret" in v]
            self.assertIn("sibyl-executor-token", secrets)
            self.assertLessEqual(set(secrets), set(c.names("secrets", self.space)))
            c.finish(pod, "Succeeded", 0)
        self.assertEqual(self.end(), "Succeeded")

    def test_an_older_version_is_pointed_at(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.submit("back", "point", arguments={"parameters": [{"name": "model", "value": "helpdesk@2"}]})

        def pods():
            found = c.items("pods", self.space, "workflows.argoproj.io/workflow=back")
            return [p for p in found if p["status"].get("phase") == "Running"]

        pod = c.wait("its pod", pods)[0]
        main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
        env = {e["name"]: e.get("value") for e in main["env"]}
        self.assertEqual((env["SIBYL_DEPLOY_MODEL"], env["SIBYL_DEPLOY_POINTER"]), ("helpdesk@2", "current"))
        self.assertEqual(pod["spec"]["nodeName"], c.cpu(), "a roll-back must not wake a GPU pool")
        c.finish(pod, "Succeeded", 0)
        c.wait("it to end", lambda: c.get("workflow", "back", self.space)["status"].get("phase") == "Succeeded")

    def test_a_run_waits_for_its_quota(self):
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "one"}}
        c.create(quota | {"spec": {"hard": {"requests.nvidia.com/gpu": "0"}}}, self.space)
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")

        def refusal():
            nodes = c.get("workflow", "run1", self.space).get("status", {}).get("nodes", {}).values()
            return [n for n in nodes if "exceeded quota" in n.get("message", "")]

        c.wait("train to be refused", refusal)
        self.assertIn(self.phase(), ("Running", None))
        c.delete("resourcequota", "one", self.space)
        self.through("train", "evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")

    def test_evaluation_is_two_steps(self):
        self.start("--set", "trainer.ttlSeconds.success=5", *HELD, kind="evaluation")
        self.through("prepare", "evaluate")
        self.assertEqual(self.end(), "Succeeded")
        c.wait("the finished run to be gone", lambda: not c.is_there("workflow", "run1", self.space))
