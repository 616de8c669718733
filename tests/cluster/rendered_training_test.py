#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the rendered workflows and Jobs promise beside placement: order, retries, time limits, schedules."""

import json
import re
import unittest

import rendering as r
from cases import EVERYTHING, STORE


class Training(unittest.TestCase):
    def template(self, kind="supervised", files=(), values=None):
        return r.render(files, values)["WorkflowTemplate", f"sibyl-{kind}"]["spec"]

    def step(self, name, **options):
        return next(t for t in self.template(**options)["templates"] if t["name"] == name)

    def test_steps_follow_one_another(self):
        for kind, steps in (
            ("supervised", "prepare train evaluate publish deploy"),
            ("coldstart", "prepare train evaluate publish deploy"),
            ("evaluation", "prepare evaluate"),
        ):
            spec = self.template(kind)
            tasks = next(t for t in spec["templates"] if t["name"] == spec["entrypoint"])["dag"]["tasks"]
            self.assertEqual([t["name"] for t in tasks], steps.split())
            self.assertEqual([t.get("depends") for t in tasks], [None, *steps.split()[:-1]])
        for serving in ({"kind": "none"}, {"models": []}):
            tasks = self.template(values={"serving": serving})["templates"][0]["dag"]["tasks"]
            self.assertEqual([t["name"] for t in tasks][-1], "publish")

    def test_what_the_pods_run(self):
        for name in ("prepare", "train", "evaluate", "publish", "deploy"):
            for values, workspace in (
                (None, "/workspace/{{workflow.name}}"),
                (STORE, "s3://bucket/sibyl/runs/{{workflow.name}}"),
            ):
                c = self.step(name, values=values)["container"]
                self.assertEqual(c["command"], ["sibyl"])
                expected = ["step", name, "--workspace", workspace]
                if name in ("prepare", "publish", "deploy"):
                    expected += ["--server", "http://sibyl-answers.default.svc:8080"]
                self.assertEqual(c["args"], expected)

    def test_a_gpu_decides_the_trainers_image(self):
        self.assertEqual(self.step("train")["container"]["image"], "sibyl-trainer:0.1.0-cpu")
        self.assertEqual(
            self.step("train", files=[r.preset("eks")])["container"]["image"], "sibyl-trainer:0.1.0-cuda13"
        )
        values = {"images": {"registry": "example.com/team/", "trainer": {"variant": "cuda12"}}}
        self.assertEqual(
            self.step("train", values=values)["container"]["image"], "example.com/team/sibyl-trainer:0.1.0-cuda12"
        )
        self.assertEqual(self.step("prepare", values=values)["container"]["image"], "example.com/team/sibyl:0.1.0")
        pinned = {"images": {"trainer": {"digest": "sha256:" + "0" * 64}}}
        self.assertEqual(self.step("train", values=pinned)["container"]["image"], "sibyl-trainer@sha256:" + "0" * 64)

    def test_every_wait_has_an_end(self):
        for kind in ("supervised", "coldstart", "evaluation"):
            for step in self.template(kind)["templates"]:
                if "container" in step:
                    self.assertRegex(step["timeout"], r"^[1-9][0-9]*m$")
                    self.assertRegex(step["retryStrategy"]["limit"], r"^[1-9][0-9]*$")
                    self.assertNotIn(
                        "maxDuration", step["retryStrategy"]["backoff"], "it would replace the pod's deadline"
                    )
        for template in r.of_kind(r.render(), "WorkflowTemplate"):
            self.assertGreater(
                template["spec"]["activeDeadlineSeconds"], 0, "a pod that waits for a node ends by nothing else"
            )
        spec = self.template()
        self.assertEqual(spec["activeDeadlineSeconds"], 1800 * 60)
        self.assertEqual(spec["ttlStrategy"], {"secondsAfterSuccess": 86400, "secondsAfterFailure": 604800})
        self.assertEqual(spec["podGC"], {"strategy": "OnPodSuccess"})

    def test_a_schedule_has_the_steps_in_itself(self):
        """Argo's controller would look for a template that Helm makes after the schedule, and again 20 minutes later."""
        for kind in ("supervised", "coldstart"):
            job = {"kind": kind, "name": "helpdesk", "data": {"collection": "faq"}}
            objects = r.render(values={"retraining": {"kind": kind, "schedules": ["0 3 * * 0"], "job": job}})
            schedule = objects["CronWorkflow", "sibyl-retraining"]["spec"]
            spec, template = schedule["workflowSpec"], objects["WorkflowTemplate", f"sibyl-{kind}"]["spec"]
            (parameter,) = spec["arguments"]["parameters"]
            self.assertEqual(json.loads(parameter["value"]), job)
            parameter["value"] = ""
            self.assertEqual(spec, template)
            labels = schedule["workflowMetadata"]["labels"]
            self.assertEqual((labels["app.kubernetes.io/instance"], labels["sibyl.dev/kind"]), ("sibyl", kind))

    def test_lost_nodes_are_tried_again_and_bugs_are_not(self):
        """The expression, with each end of a pod that Kubernetes and Argo report."""
        expression = " ".join(self.step("train")["retryStrategy"]["expression"].split())
        message = re.search(r'lastRetry\.message matches "([^"]*)"', expression).group(1)
        self.assertEqual(
            expression,
            'lastRetry.status == "Error" or lastRetry.message matches "'
            + message
            + '" or asInt(lastRetry.exitCode) == 75',
        )
        self.assertEqual(self.step("train")["retryStrategy"]["retryPolicy"], "Always")

        def again(status, text, code):
            return status == "Error" or bool(re.search(message, text)) or code == 75

        for status, text, code, expected in (
            ("Failed", "Pod was terminated in response to imminent node shutdown.", -1, True),
            ("Error", "pod deleted", -1, True),
            ("Failed", "Evicted: node was low on memory", 137, True),
            ("Failed", "Preempted in order to admit critical pod", -1, True),
            ("Failed", "node was lost", -1, True),
            ("Failed", "main: Error (exit code 75)", 75, True),
            ("Failed", "main: Error (exit code 65)", 65, False),
            ("Failed", "OOMKilled (exit code 137)", 137, False),
            ("Failed", "main: Error (exit code 70)", 70, False),
            ("Failed", "Step exceeded its deadline", -1, False),
        ):
            self.assertEqual(again(status, text, code), expected, text)

    def test_grace_and_runtime_class(self):
        plain = {"terminationGracePeriodSeconds": 15, **r.ARGO_PATCH}
        self.assertEqual(json.loads(self.step("prepare")["podSpecPatch"]), plain)
        k3s = [r.preset("k3s")]
        self.assertEqual(
            json.loads(self.step("train", files=k3s)["podSpecPatch"]), {**plain, "runtimeClassName": "nvidia"}
        )
        self.assertEqual(json.loads(self.step("prepare", files=k3s)["podSpecPatch"]), plain)

    def test_a_running_step_is_not_evicted_to_empty_its_node(self):
        for where, _, meta in r.pod_specs(r.render()):
            if where.split(".")[0].endswith(("supervised", "coldstart", "evaluation")):
                self.assertEqual(meta["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"], "false", where)

    def test_labels_are_passed_through(self):
        meta = self.step("train", values=EVERYTHING)["metadata"]["labels"]
        self.assertEqual((meta["kueue.x-k8s.io/queue-name"], meta["team"]), ("gpu-queue", "search"))
        job = r.job_manifests(
            r.render(values={**EVERYTHING, "retraining": {}, "trainer": {"kind": "job", "queue": "q"}})
        )["supervised", "train"]
        self.assertEqual(job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "q")

    def test_plain_jobs(self):
        objects = r.render([r.QUESTION_ANSWERING], {"trainer": {"kind": "job"}})
        jobs = r.job_manifests(objects)
        data = objects["ConfigMap", "sibyl-jobs"]["data"]
        self.assertEqual(data["supervised.steps"], "prepare train evaluate publish deploy")
        self.assertEqual(data["evaluation.steps"], "prepare evaluate")
        self.assertEqual(len(jobs), 12)
        for (_, step), job in jobs.items():
            spec = job["spec"]
            self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
            self.assertEqual(spec["template"]["spec"]["restartPolicy"], "Never")
            self.assertEqual(spec["podReplacementPolicy"], "Failed")
            self.assertGreater(spec["activeDeadlineSeconds"], 0)
            rules = spec["podFailurePolicy"]["rules"]
            self.assertEqual([x["action"] for x in rules], ["Ignore", "Count", "FailJob"])
            self.assertEqual(rules[0]["onPodConditions"], [{"type": "DisruptionTarget", "status": "True"}])
            self.assertIn(75, rules[1]["onExitCodes"]["values"])
            container = spec["template"]["spec"]["containers"][0]
            self.assertEqual(container["args"][:4], ["step", step, "--workspace", "/workspace/$(SIBYL_RUN)"])
            names = [e["name"] for e in container["env"]]
            self.assertEqual((names.count("SIBYL_RUN"), names.count("SIBYL_JOB")), (1, 1 if step == "prepare" else 0))


if __name__ == "__main__":
    r.main()
