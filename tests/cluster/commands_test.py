#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sibyl cluster` over a double of kubectl that holds the objects of the rendered chart."""

import json
import os
import signal
import stat
import subprocess
import time

import rendering as r
from program import PROGRAM, Program, s3_double

HOSTILE = "$(touch /tmp/x) `id` '\"; {{workflow.name}} $(SIBYL_RUN)\n&anchor"


class Commands(Program):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("bin"))
        os.symlink(os.path.join(r.HERE, "kubectl_double.py"), self.path("bin/kubectl"))
        self.env = {"PATH": self.path("bin") + ":" + os.environ["PATH"], "KUBECTL_DOUBLE": self.folder}

    def cluster(self, values=None, extra=(), **state):
        objects = list(r.render(values={"serving": {"kind": "none"}, **(values or {})}).values())
        self.write("state.json", json.dumps({"objects": objects + list(extra), **state}))

    def state(self):
        with open(self.path("state.json"), encoding="utf-8") as file:
            return json.load(file)

    def made(self, kind):
        return [o for o in self.state()["objects"] if o["kind"] == kind]

    def calls(self):
        with open(self.path("calls.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]


class Submit(Commands):
    def test_argo_gets_one_workflow_of_the_template(self):
        self.cluster()
        done = self.sibyl("--json", "cluster", "submit", self.job, "--run", "run1", "--namespace", "default")
        self.assertEqual(json.loads(done.stdout), {"run": "run1", "kind": "supervised", "state": "started"})
        (workflow,) = self.made("Workflow")
        self.assertEqual(workflow["spec"]["workflowTemplateRef"], {"name": "sibyl-supervised"})
        job = json.loads(workflow["spec"]["arguments"]["parameters"][0]["value"])
        self.assertEqual(job["data"]["pairs"], "input/pairs/pairs.jsonl")
        # The claim took the file through a pod, which is gone again.
        with open(self.path("fs/workspace/run1/input/pairs/pairs.jsonl"), encoding="utf-8") as file:
            self.assertIn("who?", file.read())
        self.assertEqual(self.made("Pod"), [])
        self.assertTrue(all("--namespace=default" in c for c in self.calls()))
        self.assertIn("running already", self.sibyl("cluster", "submit", self.job, "--run", "run1").stdout)

    def test_a_dry_run_makes_nothing(self):
        self.cluster()
        before = self.state()
        done = json.loads(self.sibyl("cluster", "submit", self.job, "--run", "run1", "--dry-run").stdout)
        self.assertEqual(self.state(), before)
        self.assertEqual(done["workspace"], "/workspace/run1")
        self.assertEqual([u["workspace"] for u in done["uploads"]], ["input/pairs/pairs.jsonl"])
        self.assertEqual([o["kind"] for o in done["objects"]], ["Workflow"])

    def test_a_stop_ends_kubectl_and_takes_the_upload_pod_away(self):
        for verb in ("wait", "exec"):
            self.cluster(hang=verb)
            self.write("calls.jsonl", "")
            command = [PROGRAM, "--data", self.path("data"), "cluster", "submit", self.job, "--run", "run1"]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.env}) as child:
                self.addCleanup(child.kill)
                end = time.monotonic() + 30
                while time.monotonic() < end and not any(verb in call for call in self.calls()):
                    time.sleep(0.05)
                child.send_signal(signal.SIGTERM)
                _, said = child.communicate(timeout=20)
            self.assertEqual(child.returncode, 75, said)
            self.assertEqual(self.made("Pod"), [], "the claim is free again")

    def test_the_upload_pod_keeps_the_rules_of_the_steps(self):
        for kind in ("argo", "job"):
            self.cluster({"trainer": {"kind": kind}})
            self.sibyl("cluster", "submit", self.job, "--run", "run1-" + kind)
        with open(self.path("created.jsonl"), encoding="utf-8") as file:
            pods = [o for o in map(json.loads, file) if o["kind"] == "Pod"]
        self.assertEqual(len(pods), 2)
        for pod in pods:
            spec, (container,) = pod["spec"], pod["spec"]["containers"]
            self.assertTrue(spec["securityContext"]["runAsNonRoot"])
            self.assertFalse(spec["automountServiceAccountToken"])
            self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
            self.assertIn({"name": "workspace", "mountPath": "/workspace"}, container["volumeMounts"])
            self.assertIn("workspace", [v["name"] for v in spec["volumes"]])
            self.assertNotIn("env", container)

    def test_a_failed_workflow_is_made_again_and_a_finished_one_stays(self):
        for phase, said in (("Failed", "started again"), ("Succeeded", "done already"), ("Running", "running already")):
            old = {"kind": "Workflow", "metadata": {"name": "run1", "labels": {"old": "yes"}}, "status": {"phase": phase}}
            self.cluster(extra=[old])
            self.assertIn(said, self.sibyl("cluster", "submit", self.job, "--run", "run1").stdout)
            self.assertEqual("old" in self.made("Workflow")[0]["metadata"]["labels"], phase != "Failed")
            # Pods of the old one are gone first: those of the new one have their names.
            deleted = [call for call in self.calls() if "delete" in call and "workflows.argoproj.io" in call]
            self.assertEqual(["--cascade=foreground" in call for call in deleted], [True] if phase == "Failed" else [])
            self.write("calls.jsonl", "")

    def test_plain_jobs_are_made_one_after_another_and_gone_on_with(self):
        values = {"trainer": {"kind": "job"}}
        self.cluster(values, fail=["run1-train"])
        done = self.sibyl("cluster", "submit", self.job, "--run", "run1", expect=65)
        self.assertIn("step train of run run1 failed", done.stderr)
        self.assertEqual([j["metadata"]["name"] for j in self.made("Job")], ["run1-prepare", "run1-train"])
        env = {e["name"]: e.get("value") for e in self.made("Job")[0]["spec"]["template"]["spec"]["containers"][0]["env"]}
        self.assertEqual(env["SIBYL_RUN"], "run1")
        self.assertEqual(json.loads(env["SIBYL_JOB"])["name"], "helpdesk")
        done = self.sibyl("cluster", "submit", self.job, "--run", "run1")
        self.assertIn("run1-prepare: there already", done.stderr)
        self.assertEqual(
            [j["metadata"]["name"] for j in self.made("Job")],
            ["run1-prepare", "run1-train", "run1-evaluate", "run1-publish"],
        )

    def test_files_go_to_the_object_store_where_there_is_one(self):
        url, store = s3_double.start()
        values = {"store": {"uri": "s3://bucket/help", "endpoint": url, "region": "eu-test-1", "secretName": "s3"}}
        self.cluster(values)
        keys = {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "test-secret"}
        self.sibyl("cluster", "submit", self.job, "--run", "run1", env=keys)
        self.assertEqual(list(store.objects), ["bucket/help/runs/run1/input/pairs/pairs.jsonl"])
        missing = self.sibyl("cluster", "submit", self.job, "--run", "run2", expect=78)
        self.assertIn("AWS_ACCESS_KEY_ID", missing.stderr)
        self.assertEqual(len(self.made("Workflow")), 1, "nothing runs without its files")

    def test_what_a_user_writes_reaches_no_shell_and_no_template(self):
        os.rename(self.path("pairs.jsonl"), self.path("p $(id) {{x}} '.jsonl"))
        job = {"kind": "supervised", "name": "helpdesk", "base": "static_custom",
               "data": {"pairs": "p $(id) {{x}} '.jsonl", "collection": HOSTILE}}
        self.write("job.json", json.dumps(job))
        for values in ({}, {"trainer": {"kind": "job"}}):
            self.cluster(values)
            self.sibyl("cluster", "submit", self.path("job.json"), "--run", "run1")
            if values:
                container = self.made("Job")[0]["spec"]["template"]["spec"]["containers"][0]
                text = next(e["value"] for e in container["env"] if e["name"] == "SIBYL_JOB")
            else:
                text = self.made("Workflow")[0]["spec"]["arguments"]["parameters"][0]["value"]
            self.assertNotIn("$(", text)
            self.assertNotIn("{{", text)
            self.assertEqual(json.loads(text)["data"]["collection"], HOSTILE)
        self.assertFalse(os.path.exists("/tmp/x"))

    def test_wrong_names_and_jobs_are_refused_before_anything_runs(self):
        self.cluster()
        for arguments in (("--run", "Run 1"), ("--run", "-x"), ("--run", "x" * 64), ("--namespace", "a/b"), ("--release", "--all")):
            self.sibyl("cluster", "submit", self.job, *[f"{arguments[0]}={arguments[1]}"], expect=64)
        self.write("job.yaml", "kind: supervised\nnmae: x\n")
        self.assertIn("name", self.sibyl("cluster", "submit", self.job, expect=78).stderr)
        self.write("job.yaml", "kind: supervised\nname: x\ndata: {pairs: gone.jsonl}\n")
        self.assertIn("gone.jsonl", self.sibyl("cluster", "submit", self.job, expect=66).stderr)
        self.assertFalse(os.path.exists(self.path("calls.jsonl")))
        self.write("job.yaml", "kind: supervised\nname: x\nbase: static_custom\ndata: {pairs: pairs.jsonl}\n")
        done = self.sibyl("cluster", "submit", self.job, "--release", "other", expect=66)
        self.assertIn("helm install other", done.stderr)

    def test_without_kubectl_it_says_what_is_needed(self):
        done = self.sibyl("cluster", "status", expect=69, env={"PATH": self.path("nowhere")})
        self.assertIn("kubectl", done.stderr)


class Status(Commands):
    def test_runs_of_both_kinds_and_why_a_pod_waits(self):
        labels = {"app.kubernetes.io/instance": "sibyl", "app.kubernetes.io/component": "step",
                  "workflows.argoproj.io/workflow": "run1", "sibyl.dev/step": "train"}
        pod = {"kind": "Pod", "metadata": {"name": "run1-train-1", "labels": labels}, "spec": {},
               "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                                                              "message": "0/2 nodes are available: Insufficient nvidia.com/gpu"}]}}
        scheduled = {"kind": "Workflow", "metadata": {"name": "nightly", "labels": {}, "creationTimestamp": "2026-11-29"},
                     "spec": {"workflowTemplateRef": {"name": "sibyl-coldstart"}}, "status": {"phase": "Succeeded"}}
        other = {"kind": "Workflow", "metadata": {"name": "other", "labels": {}},
                 "spec": {"workflowTemplateRef": {"name": "not-ours"}}}
        # A schedule's runs have the steps in themselves; another release's are not ours.
        ours = {"app.kubernetes.io/instance": "sibyl", "app.kubernetes.io/component": "run", "sibyl.dev/kind": "evaluation"}
        timed = {"kind": "Workflow", "metadata": {"name": "timed", "labels": ours, "creationTimestamp": "2026-11-30"},
                 "spec": {"entrypoint": "run"}, "status": {"phase": "Running"}}
        foreign = {"kind": "Workflow", "spec": {"entrypoint": "run"},
                   "metadata": {"name": "foreign", "labels": ours | {"app.kubernetes.io/instance": "else"}}}
        self.cluster(extra=[pod, scheduled, other, timed, foreign])
        self.sibyl("cluster", "submit", self.job, "--run", "run1")
        runs = json.loads(self.sibyl("--json", "cluster", "status").stdout)["runs"]
        self.assertEqual(
            [(x["run"], x["kind"], x["state"]) for x in runs],
            [("timed", "evaluation", "Running"), ("nightly", "coldstart", "Succeeded"), ("run1", "supervised", "Pending")],
        )
        one = json.loads(self.sibyl("--json", "cluster", "status", "run1").stdout)
        self.assertIn("Insufficient nvidia.com/gpu", one["pods"][0]["waits_for"])
        self.assertIn("what run1-train-1 printed", self.sibyl("cluster", "logs", "run1", "--step", "train").stdout)
        self.sibyl("cluster", "logs", "run1", "--step", "publish", expect=66)
        self.sibyl("cluster", "status", "run2", expect=66)

    def test_runs_of_plain_jobs(self):
        self.cluster({"trainer": {"kind": "job"}}, absent=["Workflow", "WorkflowTemplate"], fail=["run1-evaluate"])
        self.sibyl("cluster", "submit", self.job, "--run", "run1", expect=65)
        (run,) = json.loads(self.sibyl("--json", "cluster", "status").stdout)["runs"]
        self.assertEqual((run["run"], run["kind"]), ("run1", "supervised"))

    def test_nothing_there(self):
        self.cluster()
        self.assertIn("no run", self.sibyl("cluster", "status").stderr)


def node(name, labels=None, gpus=0, taints=()):
    return {"kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "spec": {"taints": list(taints)},
            "status": {"allocatable": {"cpu": "8", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}}}


GPU_LABELS = {"cloud.google.com/gke-nodepool": "gpu-nodepool"}
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


class Doctor(Commands):
    def look(self, extra, values=None, expect=0, **state):
        objects = list(r.render([r.preset("gke")], {"serving": {"kind": "none"}, **(values or {})}).values())
        secret = {"kind": "Secret", "metadata": {"name": "sibyl-api-keys"}}
        self.write("state.json", json.dumps({"objects": objects + [secret] + list(extra), **state}))
        found = json.loads(self.sibyl("--json", "cluster", "doctor", expect=expect).stdout)
        self.assertEqual(found["ready"], expect == 0)
        return [(f["state"], f["what"], f["text"]) for f in found["findings"]]

    def test_a_good_cluster(self):
        cpu = node("cpu-1", {"cloud.google.com/gke-nodepool": "cpu-nodepool"})
        gpu = node("gpu-1", {**GPU_LABELS, "nvidia.com/cuda.driver.major": "580"}, 1, [GPU_TAINT])
        found = self.look([cpu, gpu])
        self.assertIn(("ok", "supervised train", "runs on gpu-1 (1 GPU)"), found)
        self.assertIn(("ok", "gpu nodes", "gpu-1 may scale down"), found)
        self.assertIn(("ok", "supervised prepare", "runs on cpu-1"), found)
        self.assertTrue(any(state == "ok" and what == "driver" for state, what, _ in found), found)

    def test_a_pool_at_zero_is_right(self):
        found = self.look([node("cpu-1", {"cloud.google.com/gke-nodepool": "cpu-nodepool"})])
        self.assertTrue(any(w == "supervised train" and "scales from zero" in t for s, w, t in found), found)

    def test_what_keeps_a_gpu_node(self):
        def pod(name, namespace="default", owner="ReplicaSet", spec=None, annotations=None):
            references = [{"kind": owner, "name": "o", "controller": True}] if owner else []
            return {"kind": "Pod", "metadata": {"name": name, "namespace": namespace, "ownerReferences": references,
                                                "annotations": annotations or {}, "labels": {"app": name}},
                    "spec": {"nodeName": "gpu-1", "containers": [], **(spec or {})}, "status": {"phase": "Running"}}

        gpu = [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]
        pods = [
            pod("alone", owner=None), pod("daemon", owner="DaemonSet"), pod("dns", "kube-system"),
            pod("disk", spec={"volumes": [{"name": "v", "emptyDir": {}}]}), pod("custom", owner="SeldonDeployment"),
            pod("milvus", owner="StatefulSet", spec={"containers": gpu}), pod("fine"),
            pod("kept", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}), pod("guarded"),
        ]
        budget = {"kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"},
                  "spec": {"selector": {"matchLabels": {"app": "guarded"}}}, "status": {"disruptionsAllowed": 0}}
        other = node("cpu-1", {"cloud.google.com/gke-nodepool": "cpu-nodepool"})
        found = self.look([other, node("gpu-1", GPU_LABELS, 1, [GPU_TAINT]), budget, *pods])
        held = {t.split("pod ")[1].split()[0]: t for s, w, t in found if w == "gpu nodes"}
        self.assertEqual(
            set(held),
            {"default/alone", "kube-system/dns", "default/disk", "default/custom", "default/milvus", "default/kept",
             "default/guarded"},
        )
        self.assertIn("no controller", held["default/alone"])
        self.assertIn("local storage (volume v)", held["default/disk"])
        self.assertIn("uses a GPU", held["default/milvus"])
        self.assertIn("disruption budget b", held["default/guarded"])

    def test_what_is_missing(self):
        cpu = node("cpu-1", {"cloud.google.com/gke-nodepool": "cpu-nodepool"})
        odd = {"key": "team", "value": "x", "effect": "NoSchedule"}
        old = node("gpu-1", {**GPU_LABELS, "nvidia.com/cuda.driver.major": "470"}, 1, [GPU_TAINT])
        quota = {"kind": "ResourceQuota", "metadata": {"name": "q"},
                 "status": {"hard": {"requests.nvidia.com/gpu": "1"}, "used": {"requests.nvidia.com/gpu": "1"}}}
        found = self.look([cpu, node("gpu-1", GPU_LABELS, 1, [GPU_TAINT, odd])], expect=69)
        self.assertTrue(any(s == "missing" and "team=x:NoSchedule" in t for s, w, t in found), found)
        found = self.look([cpu, old, quota], expect=69)
        self.assertTrue(any(s == "missing" and w == "driver" and "470" in t for s, w, t in found), found)
        self.assertTrue(any(s == "missing" and w == "quotas" for s, w, t in found), found)
        # No devices: the plugin does not run, or the driver is not there yet.
        found = self.look([cpu, node("gpu-1", GPU_LABELS, 0, [GPU_TAINT])], expect=69)
        self.assertTrue(any(s == "missing" and "0 GPU to give" in t for s, w, t in found), found)

    def test_what_may_not_be_seen_is_said_and_no_failure(self):
        found = self.look([], forbidden=["Node"], absent=["SeldonDeployment"])
        self.assertTrue(any(s == "note" and w == "nodes" and "forbidden" in t for s, w, t in found), found)


if __name__ == "__main__":
    mode = os.stat(os.path.join(r.HERE, "kubectl_double.py")).st_mode
    assert mode & stat.S_IXUSR, "kubectl_double.py must be executable"
    r.main()
