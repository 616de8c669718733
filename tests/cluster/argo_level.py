# SPDX-License-Identifier: Apache-2.0
"""Argo's own controller: a workflow runs through, lost nodes are survived, bugs not repeated, the GPU node goes."""

import json
import os
import time
import unittest

import cluster as c
import rendering as r
from pools import APART

SHUTDOWN = "Pod was terminated in response to imminent node shutdown."
HELD = ("--set-string", r"trainer.podAnnotations.sim\.sibyl\.dev/hold=true", "--set", "trainer.backoff.duration=1s")


class Runs(unittest.TestCase):
    """A run of Argo's, and what its simulated pods do."""

    def setUp(self):
        self.space = "a-" + self.id().rsplit("test_", 1)[1].replace("_", "-")[:50]
        self.pools()
        c.namespace(self.space)

    def tearDown(self):
        c.clean()

    def pools(self):
        c.fresh_pools("gke")

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
            "the workflow to end", lambda: (lambda p: p in ("Succeeded", "Failed", "Error") and p)(self.phase())
        )

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
        live = [
            p["metadata"]["name"]
            for p in c.get("pods", "-A", "--field-selector", f"spec.nodeName={c.gpu()}")["items"]
            if p["status"]["phase"] not in ("Succeeded", "Failed")
        ]
        self.assertEqual(live, [])
        may, why = c.scaledown(c.gpu())
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

    def test_a_failing_program_is_not_repeated(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")
        c.finish(self.running("train"), "Failed", 65)
        self.assertEqual(self.end(), "Failed")
        nodes = c.get("workflow", "run1", "-n", self.space)["status"]["nodes"].values()
        self.assertEqual(len([n for n in nodes if n["type"] == "Pod" and n["displayName"].startswith("train")]), 1)

    def test_it_falls_back_to_another_pool(self):
        c.fresh_pools("gke", "--spot")
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

    def test_an_older_version_is_pointed_at(self):
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        workflow = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "metadata": {"name": "back", "namespace": self.space},
            "spec": {
                "workflowTemplateRef": {"name": "sibyl-point"},
                "arguments": {"parameters": [{"name": "model", "value": "helpdesk@2"}]},
            },
        }
        c.apply(workflow, namespace=self.space)

        def pods():
            found = c.get("pods", "-n", self.space, "-l", "workflows.argoproj.io/workflow=back")["items"]
            return [p for p in found if p["status"].get("phase") == "Running"]

        pod = c.wait("its pod", pods)[0]
        main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
        env = {e["name"]: e.get("value") for e in main["env"]}
        self.assertEqual((env["SIBYL_DEPLOY_MODEL"], env["SIBYL_DEPLOY_POINTER"]), ("helpdesk@2", "current"))
        self.assertEqual(pod["spec"]["nodeName"], c.cpu(), "a roll-back must not wake a GPU pool")
        c.finish(pod, "Succeeded", 0)
        c.wait("it to end", lambda: c.get("workflow", "back", "-n", self.space)["status"].get("phase") == "Succeeded")

    def test_a_run_waits_for_its_quota(self):
        c.apply_list(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "one", "namespace": self.space},
                "spec": {"hard": {"requests.nvidia.com/gpu": "0"}},
            }
        )
        self.start("-f", r.QUESTION_ANSWERING, *HELD)
        self.through("prepare")

        def refusal():
            nodes = c.get("workflow", "run1", "-n", self.space).get("status", {}).get("nodes", {}).values()
            return [n for n in nodes if "exceeded quota" in n.get("message", "")]

        c.wait("train to be refused", refusal)
        self.assertIn(self.phase(), ("Running", None))
        c.kubectl("delete", "resourcequota", "one", "-n", self.space)
        self.through("train", "evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")

    def test_evaluation_is_two_steps(self):
        self.start(*HELD, kind="evaluation")
        self.through("prepare", "evaluate")
        self.assertEqual(self.end(), "Succeeded")


class Apart(Runs):
    """What waits for the cluster's own pauses: beside the other tests, on nodes of its own."""

    apart = True

    def pools(self):
        self.nodes = self.space[:20].rstrip("-")
        self.gpu = self.nodes + "-gpu-nodepool-0"
        c.pools("gke", "--apart", self.nodes)

    def files(self):
        """The operators' values, with the label and the toleration of these nodes beside theirs."""
        with open(r.QUESTION_ANSWERING, encoding="utf-8") as file:
            tree = r.yaml.safe_load(file)["question-answering"]
        for entry in [tree["nodeSelector"]["default"], *(k["seldon"] for k in list(tree["nodeSelector"].values())[1:])]:
            entry[APART] = self.nodes
        for entry in [tree["tolerations"]["default"], *(k["seldon"] for k in list(tree["tolerations"].values())[1:])]:
            entry.append({"key": APART, "operator": "Exists"})
        path = r.values_file({"question-answering": tree})
        self.addCleanup(os.unlink, path)
        return path

    def test_a_node_that_vanishes(self):
        self.start("-f", self.files(), *HELD)
        self.through("prepare")
        first = self.running("train")
        c.kubectl("delete", "node", self.gpu)
        c.wait(
            "the lost pod to be collected",
            lambda: (
                not [
                    p
                    for p in self.pods("train", ("Running", "Failed", "Pending"))
                    if p["metadata"]["uid"] == first["metadata"]["uid"]
                ]
            ),
            300,
        )
        self.pools()
        c.finish(self.running("train", but=[first]), "Succeeded", 0)
        self.through("evaluate", "publish", "deploy")
        self.assertEqual(self.end(), "Succeeded")

    def test_a_node_that_never_comes_ends_the_run(self):
        c.kubectl("delete", "node", self.gpu)
        self.start("-f", self.files(), "--set", "trainer.timeoutMinutes.run=1", *HELD)
        c.wait("prepare to wait", lambda: self.pods("prepare", ("Pending",)))
        time.sleep(65)
        # A run in which nothing happens is looked at by the controller every 20 minutes (decision 151); any change is
        # looked at at once.
        c.kubectl("annotate", "workflow", "run1", "-n", self.space, "sim.sibyl.dev/look=now")
        self.assertEqual(self.end(), "Failed")
        c.wait("the waiting pod to be gone", lambda: not self.pods("", ("Pending", "Running")))

    def test_a_schedule_starts_runs(self):
        job = {"kind": "supervised", "name": "helpdesk", "data": {"collection": "$(touch /tmp/x) \"&anchor"}}
        path = r.values_file({"retraining": {"schedules": ["* * * * *"], "job": job}})
        self.addCleanup(os.unlink, path)
        c.run("helm", "install", "sibyl", r.CHART, "-n", self.space, "-f", self.files(), "-f", path, *HELD)
        # Helm makes the schedule before its template; a controller that was faster looks again after 20 minutes.
        time.sleep(2)
        c.kubectl("annotate", "cronworkflow", "sibyl-retraining", "-n", self.space, "sim.sibyl.dev/look=now")

        def prepare():
            found = c.get("pods", "-n", self.space, "-l", "sibyl.dev/step=prepare")["items"]
            return [p for p in found if p["status"].get("phase") == "Running"]

        pod = c.wait("the run of the next minute", prepare)[0]
        main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
        value = next(e["value"] for e in main["env"] if e["name"] == "SIBYL_JOB")
        self.assertEqual(json.loads(value.replace("$$(", "$(")), job)
