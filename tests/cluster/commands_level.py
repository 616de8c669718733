# SPDX-License-Identifier: Apache-2.0
"""`sibyl cluster submit`, `status` and `logs` against a real API server, Argo's controller and the Jobs' controller."""

import json
import os
import signal
import subprocess

import cluster as c
import rendering as r
from program import PROGRAM, Program

HELD = ("--set-string", r"trainer.podAnnotations.sim\.sibyl\.dev/hold=true", "--set", "trainer.backoff.duration=1s")
QUICK = ("--set-string", r"trainer.podAnnotations.sim\.sibyl\.dev/duration=200ms")
STEPS = ("prepare", "train", "evaluate", "publish", "deploy")


class Commands(Program):
    def setUp(self):
        super().setUp()
        c.fresh_pools("gke")
        self.space = c.namespace("c-" + self.id().rsplit("test_", 1)[1].replace("_", "-")[:50])
        # Texts that would do harm in a shell, in YAML or as a reference.
        self.plain = self.write(
            "plain.yaml",
            "kind: coldstart\nname: helpdesk\nbase: static_custom\n"
            "data: {collection: '$(touch /tmp/x) `id` {{workflow.name}} $(SIBYL_RUN) \"&anchor'}\n",
        )

    def install(self, *values, operators=r.QUESTION_ANSWERING, helm="helm"):
        c.run(helm, "install", "sibyl", r.CHART, "-n", self.space, "-f", operators, *values)
        if c.is_there("workflowtemplate", "sibyl-coldstart", self.space):
            c.until_argo_knows(self.space, "sibyl-coldstart")

    def cluster(self, command, *arguments, **options):
        return self.sibyl("--json", "cluster", command, *arguments, "--namespace", self.space, **options)

    def pods(self, step, phase="Running"):
        found = c.items("pods", self.space, f"app.kubernetes.io/component=step,sibyl.dev/step={step}")
        return [p for p in found if p["status"].get("phase") == phase]

    def finish(self, step, code=0):
        pod = c.wait(f"{step} to run", lambda: self.pods(step))[0]
        c.finish(pod, "Failed" if code else "Succeeded", code)


class Submit(Commands):
    def test_a_dry_run_prints_what_the_api_server_takes(self):
        for kind in ("argo", "job"):
            c.run("helm", "upgrade", "--install", "sibyl", r.CHART, "-n", self.space, "--set", f"trainer.kind={kind}")
            out = json.loads(self.cluster("submit", self.plain, "--run", "dry", "--dry-run").stdout)
            for o in out["objects"]:
                c.create(o, self.space, dryRun="All")
            self.assertEqual(json.loads(self.cluster("status").stdout)["runs"], [])

    def test_an_argo_run_from_start_to_end(self):
        self.install(*HELD)
        c.secret(self.space)
        self.assertEqual(json.loads(self.cluster("submit", self.plain, "--run", "run1").stdout)["state"], "started")
        pod = c.wait("prepare to run", lambda: self.pods("prepare"))[0]
        main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
        job = json.loads(next(e["value"] for e in main["env"] if e["name"] == "SIBYL_JOB"))
        self.assertEqual(job["data"]["collection"], '$(touch /tmp/x) `id` {{workflow.name}} $(SIBYL_RUN) "&anchor')
        self.assertEqual(json.loads(self.cluster("submit", self.plain, "--run", "run1").stdout)["state"], "running already")
        c.finish(pod, "Succeeded", 0)
        c.wait("train to run", lambda: self.pods("train"))
        status = json.loads(self.cluster("status", "run1").stdout)
        self.assertEqual((status["kind"], status["state"], status["step"]), ("coldstart", "Running", "train"))
        self.assertIn(("train", "Running", c.gpu()), [(p["step"], p["phase"], p["node"]) for p in status["pods"]])
        self.assertIn("a simulated pod prints this", self.cluster("logs", "run1", "--step", "train").stdout)
        # A failing program ends the run; submitted again, it goes on in the same workspace.
        self.finish("train", 65)
        self.ends("Failed")
        self.assertEqual(json.loads(self.cluster("submit", self.plain, "--run", "run1").stdout)["state"], "started again")
        for step in STEPS:
            self.finish(step)
        self.ends("Succeeded")
        self.assertEqual(json.loads(self.cluster("submit", self.plain, "--run", "run1").stdout)["state"], "done already")
        c.wait("finished pods to be gone", lambda: not self.pods("train", "Succeeded"))
        self.cluster("logs", "run1", "--step", "train", expect=66)

    def ends(self, state):
        """Argo says so, and then `status` does."""
        phase = lambda: c.get("workflow", "run1", self.space).get("status", {}).get("phase")  # noqa: E731
        c.wait("the run to end", lambda: phase() in ("Succeeded", "Failed", "Error"))
        runs = json.loads(self.cluster("status").stdout)["runs"]
        self.assertEqual([(x["run"], x["state"]) for x in runs], [("run1", state)])

    def test_a_train_pod_that_waits_says_why(self):
        self.install(*HELD)
        c.secret(self.space)
        self.cluster("submit", self.plain, "--run", "first")
        self.finish("prepare")
        c.wait("train to run", lambda: self.pods("train"))
        self.cluster("submit", self.plain, "--run", "second")
        self.finish("prepare")

        def reason():
            pods = json.loads(self.cluster("status", "second").stdout)["pods"]
            return next((p["waits_for"] for p in pods if p["step"] == "train" and p["waits_for"]), None)

        self.assertIn("Insufficient nvidia.com/gpu", c.wait("the reason", reason))

    def test_plain_jobs_one_after_another(self):
        self.install("--set", "trainer.kind=job", *QUICK)
        c.secret(self.space)
        done = self.cluster("submit", self.plain, "--run", "run1")
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["state"], "done")
        jobs = {j["metadata"]["name"]: j for j in c.items("jobs", self.space)}
        self.assertEqual(set(jobs), {f"run1-{s}" for s in STEPS})
        order = [jobs[f"run1-{s}"]["status"] for s in STEPS]
        for before, after in zip(order, order[1:]):
            self.assertLessEqual(before["completionTime"], after["startTime"])
        runs = json.loads(self.cluster("status").stdout)["runs"]
        self.assertEqual([(x["run"], x["kind"], x["state"]) for x in runs], [("run1", "coldstart", "Succeeded")])

    def test_plain_jobs_stop_and_go_on(self):
        self.install("--set", "trainer.kind=job", *HELD)
        c.secret(self.space)
        command = [PROGRAM, "cluster", "submit", self.plain, "--run", "run1", "--namespace", self.space]
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.finish("prepare")
        c.wait("train to run", lambda: self.pods("train"))
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(120), 75)
        second = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in second.stderr:
            if "run1-train" in line:
                break
        self.assertIn("there already", line)
        self.finish("train", 65)
        _, said = second.communicate(timeout=c.PATIENCE)
        self.assertEqual(second.returncode, 65, said)
        self.assertIn("PodFailurePolicy", said)
        # Failed Jobs are made anew, finished ones are not.
        third = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for step in STEPS[1:]:
            self.finish(step)
        self.assertEqual(third.wait(240), 0)
        self.assertEqual(len(self.pods("prepare", "Succeeded")), 1)

    def test_files_come_onto_the_claim(self):
        pods = os.environ.get("SIBYL_CLUSTER_PODS")
        if not pods:
            self.skipTest("needs root, or SIBYL_CLUSTER_EXEC=yes (see up.sh --exec)")
        self.install(*HELD)
        c.secret(self.space)
        large = '{"question": "' + "x" * 200 + '?", "answer": "a\\u0000b \\"quoted\\""}\n'
        self.write("pairs.jsonl", large * 20000)
        self.cluster("submit", self.job, "--run", "run1")
        with open(os.path.join(pods, "run1/input/pairs/pairs.jsonl"), encoding="utf-8") as file:
            self.assertEqual(file.read(), large * 20000)
        pod = c.wait("prepare to run", lambda: self.pods("prepare"))[0]
        main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
        job = json.loads(next(e["value"] for e in main["env"] if e["name"] == "SIBYL_JOB"))
        self.assertEqual(job["data"]["pairs"], "input/pairs/pairs.jsonl")
        c.wait("the upload's pod to go", lambda: not [n for n in c.names("pods", self.space) if n.endswith("-upload")])
