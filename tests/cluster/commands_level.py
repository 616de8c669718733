# SPDX-License-Identifier: Apache-2.0
"""`sibyl cluster …` and the step `deploy` against a real API server, Argo's controller and the Jobs' controller."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import cluster as c
import rendering as r

sys.path.insert(0, os.path.join(r.HERE, "..", "objects"))
import s3_double  # noqa: E402

PROGRAM = os.environ.get("SIBYL_PROGRAM", os.path.join(r.HERE, "..", "..", "build", "release", "sibyl"))
VERSION = "sibyl.dev/model-version"
HELD = ("--set-string", r"trainer.podAnnotations.sim\.sibyl\.dev/hold=true")
QUICK = ("--set-string", r"trainer.podAnnotations.sim\.sibyl\.dev/duration=200ms")
PAIRS = '{"question": "who?", "answer": "me"}\n' * 3


class Commands(unittest.TestCase):
    def setUp(self):
        if not os.access(PROGRAM, os.X_OK):
            self.skipTest(f"{PROGRAM} is not built")
        folder = tempfile.TemporaryDirectory(prefix="sibyl-commands-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(c.clean)
        self.folder = folder.name
        self.space = "c-" + self.id().rsplit("test_", 1)[1].replace("_", "-")[:50]
        c.fresh_pools("gke")
        c.namespace(self.space)
        self.write("pairs.jsonl", PAIRS)
        # Texts that would do harm in a shell, in YAML or as a reference.
        self.job = self.write(
            "job.yaml", "kind: supervised\nname: helpdesk\nbase: static_custom\ndata: {pairs: pairs.jsonl}\n"
        )
        self.plain = self.write(
            "plain.yaml",
            "kind: coldstart\nname: helpdesk\nbase: static_custom\n"
            "data: {collection: '$(touch /tmp/x) `id` {{workflow.name}} $(SIBYL_RUN) \"&anchor'}\n",
        )

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def install(self, *values, helm="helm"):
        c.run(helm, "install", "sibyl", r.CHART, "-n", self.space, "-f", r.QUESTION_ANSWERING, *values)

    def secret(self):
        c.kubectl("create", "secret", "generic", "sibyl-api-keys", "-n", self.space, "--from-literal=key=k")

    def sibyl(self, *arguments, expect=0, env=None):
        done = subprocess.run(
            [PROGRAM, "--data", self.path("data"), *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, **(env or {})},
        )
        self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def cluster(self, command, *arguments, **options):
        return self.sibyl("--json", "cluster", command, *arguments, "--namespace", self.space, **options)

    def pods(self, step, phase="Running"):
        found = c.get("pods", "-n", self.space, "-l", f"app.kubernetes.io/component=step,sibyl.dev/step={step}")
        return [p for p in found["items"] if p["status"].get("phase") == phase]

    def finish(self, step, code=0):
        pod = c.wait(f"{step} to run", lambda: self.pods(step))[0]
        c.finish(pod, "Failed" if code else "Succeeded", code)


class Doctor(Commands):
    def findings(self, **options):
        report = json.loads(self.cluster("doctor", **options).stdout)
        self.assertEqual(report["ready"], options.get("expect", 0) == 0)
        return [(f["state"], f["what"], f["text"]) for f in report["findings"]]

    def test_doctor(self):
        self.assertIn("missing", [s for s, what, _ in self.findings(expect=69) if what == "release"])
        self.install()
        found = self.findings(expect=69)
        self.assertTrue(any(s == "missing" and "sibyl-api-keys" in t for s, w, t in found if w == "secrets"), found)
        self.secret()
        found = self.findings()
        for one in (
            ("ok", "kinds", "Argo Workflows (trainer.kind: argo): installed"),
            ("ok", "kinds", "Seldon Core 1.17.1 (serving.kind: seldon): installed"),
            ("ok", "supervised train", f"runs on {c.gpu()} (1 GPU)"),
            ("ok", "supervised prepare", f"runs on {c.gpu()}"),
            ("ok", "gpu nodes", f"{c.gpu()} may scale down"),
        ):
            self.assertIn(one, found)
        # What holds the node, by pod; the same as the autoscaler's rules say.
        c.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "left-over"},
                "spec": {"nodeName": c.gpu(), **RESTRICTED_POD},
            },
            namespace=self.space,
        )
        c.wait("the pod", lambda: c.get("pod", "left-over", "-n", self.space)["status"].get("phase") == "Running")
        held = [t for _, w, t in self.findings() if w == "gpu nodes"]
        self.assertTrue(any(f"{self.space}/left-over" in t and "no controller" in t for t in held), held)
        self.assertFalse(c.scaledown(c.gpu())[0])
        # A taint that nothing of ours tolerates.
        c.kubectl("taint", "node", c.gpu(), "team=x:NoSchedule")
        found = self.findings(expect=69)
        self.assertTrue(any(s == "missing" and "team=x:NoSchedule" in t for s, w, t in found), found)


RESTRICTED_POD = {
    "securityContext": {"runAsNonRoot": True, "runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {
            "name": "main",
            "image": "example.invalid/left-over",
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
    ],
}


class Submit(Commands):
    def test_a_dry_run_prints_what_the_api_server_takes(self):
        for kind in ("argo", "job"):
            c.run("helm", "upgrade", "--install", "sibyl", r.CHART, "-n", self.space, "--set", f"trainer.kind={kind}")
            out = json.loads(self.cluster("submit", self.plain, "--run", "dry", "--dry-run").stdout)
            for o in out["objects"]:
                c.kubectl(
                    "create", "--dry-run=server", "--validate=strict", "-n", self.space, "-f", "-", stdin=json.dumps(o)
                )
            self.assertEqual(json.loads(self.cluster("status").stdout)["runs"], [])

    def test_an_argo_run_from_start_to_end(self):
        self.install(*HELD)
        self.secret()
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
        c.wait("the run to fail", lambda: self.state() == "Failed")
        self.assertEqual(json.loads(self.cluster("submit", self.plain, "--run", "run1").stdout)["state"], "started again")
        for step in ("prepare", "train", "evaluate", "publish", "deploy"):
            self.finish(step)
        c.wait("the run to end", lambda: self.state() == "Succeeded")
        self.assertEqual(json.loads(self.cluster("submit", self.plain, "--run", "run1").stdout)["state"], "done already")
        c.wait("finished pods to be gone", lambda: not self.pods("train", "Succeeded"))
        self.cluster("logs", "run1", "--step", "train", expect=66)

    def state(self):
        runs = json.loads(self.cluster("status").stdout)["runs"]
        return next((x["state"] for x in runs if x["run"] == "run1"), None)

    def test_a_train_pod_that_waits_says_why(self):
        self.install(*HELD)
        self.secret()
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
        self.secret()
        done = self.cluster("submit", self.plain, "--run", "run1")
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["state"], "done")
        jobs = {j["metadata"]["name"]: j for j in c.get("jobs", "-n", self.space)["items"]}
        self.assertEqual(set(jobs), {f"run1-{s}" for s in ("prepare", "train", "evaluate", "publish", "deploy")})
        order = [jobs[f"run1-{s}"]["status"] for s in ("prepare", "train", "evaluate", "publish", "deploy")]
        for before, after in zip(order, order[1:]):
            self.assertLessEqual(before["completionTime"], after["startTime"])
        runs = json.loads(self.cluster("status").stdout)["runs"]
        self.assertEqual([(x["run"], x["kind"], x["state"]) for x in runs], [("run1", "coldstart", "Succeeded")])

    def test_plain_jobs_stop_and_go_on(self):
        self.install("--set", "trainer.kind=job", *HELD)
        self.secret()
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
        said = second.stderr.read()
        self.assertEqual(second.wait(240), 65, said)
        self.assertIn("PodFailurePolicy", said)
        # Failed Jobs are made anew, finished ones are not.
        third = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for step in ("train", "evaluate", "publish", "deploy"):
            self.finish(step)
        self.assertEqual(third.wait(240), 0)
        self.assertEqual(len(self.pods("prepare", "Succeeded")), 1)

    def test_files_come_onto_the_claim(self):
        pods = os.environ.get("SIBYL_CLUSTER_PODS")
        if not pods:
            self.skipTest("needs root, or SIBYL_CLUSTER_EXEC=yes (see up.sh --exec)")
        self.install(*HELD)
        self.secret()
        large = '{"question": "' + "x" * 200 + '?", "answer": "a\\u0000b \\"quoted\\""}\n'
        self.write("pairs.jsonl", large * 20000)
        self.cluster("submit", self.job, "--run", "run1")
        with open(os.path.join(pods, "run1/input/pairs/pairs.jsonl"), encoding="utf-8") as file:
            self.assertEqual(file.read(), large * 20000)
        pod = c.wait("prepare to run", lambda: self.pods("prepare"))[0]
        main = next(x for x in pod["spec"]["containers"] if x["name"] == "main")
        job = json.loads(next(e["value"] for e in main["env"] if e["name"] == "SIBYL_JOB"))
        self.assertEqual(job["data"]["pairs"], "input/pairs/pairs.jsonl")
        c.wait("the upload's pod to go", lambda: not [
            p for p in c.get("pods", "-n", self.space)["items"] if p["metadata"]["name"].endswith("-upload")
        ])


OBJECTS = {
    "seldon": ("seldondeployment", lambda o: o["spec"]["annotations"]),
    "kserve": ("inferenceservice", lambda o: o["spec"]["predictor"]["annotations"]),
    "deployment": ("deployment", lambda o: o["spec"]["template"]["metadata"]["annotations"]),
}


class Deploy(Commands):
    """The step itself, with the token of the account that the chart makes, by the environment that the chart gives."""

    def setUp(self):
        super().setUp()
        url, self.store = s3_double.start()
        self.store_env = {
            "AWS_ENDPOINT_URL": url,
            "AWS_REGION": "eu-test-1",
            "AWS_ACCESS_KEY_ID": "test-key",
            "AWS_SECRET_ACCESS_KEY": "test-secret",
        }
        os.makedirs(self.path("account"))
        with open(os.path.join(c.RUN, "certs", "apiserver.crt"), encoding="utf-8") as file:
            self.write("account/ca.crt", file.read())

    def publish(self, version):
        """What the step publish leaves: the model in the store, and its report in the workspace."""
        at = f"bucket/sibyl/models/helpdesk/{version}/sibyl.json"
        self.store.objects[at] = (b'{"format": 1}', '"e"', {})
        folder = f"work-{self.space}-{version}"
        os.makedirs(self.path(folder + "/done"), exist_ok=True)
        os.makedirs(self.path(folder + "/report"), exist_ok=True)
        self.write(folder + "/job.json", json.dumps({"format": 1, "kind": "supervised", "name": "helpdesk"}))
        self.write(folder + "/done/publish", "")
        self.write(folder + "/report/publish.json", json.dumps({"model": f"helpdesk@{version}", "version": version}))
        return self.path(folder)

    def deploy(self, version, expect=0, **more):
        env = {
            e["name"]: e["value"]
            for e in self.container["env"]
            if e["name"].startswith("SIBYL_") and "value" in e and e["name"] != "SIBYL_API_KEY"
        }
        self.write("account/token", c.kubectl("create", "token", "sibyl-deploy", "-n", self.space))
        env |= {
            **self.store_env,
            "SIBYL_DEPLOY_ACCOUNT": self.path("account"),
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": os.environ["SIBYL_CLUSTER_PORT"],
            **more,
        }
        return self.sibyl("step", "deploy", "--workspace", self.publish(version), expect=expect, env=env)

    def read_container(self):
        template = c.get("workflowtemplate", "sibyl-supervised", "-n", self.space)["spec"]["templates"]
        self.container = next(t["container"] for t in template if t["name"] == "deploy")

    def test_the_version_outlives_upgrades_and_roll_backs(self):
        for helm in r.HELMS:
            for serving, (kind, annotations) in OBJECTS.items():
                with self.subTest(serving, helm=helm):
                    self.space = f"c-deploy-{serving}-{helm}"
                    c.namespace(self.space)
                    values = ("--set", f"serving.kind={serving},store.uri=s3://bucket/sibyl")
                    release = ("sibyl", r.CHART, "-n", self.space, *values)
                    c.run(helm, "install", *release)
                    self.read_container()
                    self.deploy("3")
                    get = lambda: c.get(kind, "sibyl-model-helpdesk", "-n", self.space, "--show-managed-fields")  # noqa: E731
                    found = get()
                    self.assertEqual(annotations(found)[VERSION], "3")
                    (ours,) = [m for m in found["metadata"]["managedFields"] if m["manager"] == "sibyl"]
                    self.assertEqual(ours["operation"], "Apply")
                    self.assertEqual(self.leaves(ours["fieldsV1"]), ["f:" + VERSION])
                    self.assertEqual(self.store.objects["bucket/sibyl/models/helpdesk/current"][0], b'{"version":"3"}\n')
                    c.run(helm, "upgrade", *release, "--set", "serving.replicas=2,serving.podAnnotations.a=b")
                    self.assertEqual(annotations(get())[VERSION], "3")
                    self.deploy("4")
                    self.assertEqual(annotations(get())[VERSION], "4")
                    c.run(helm, "rollback", "sibyl", "1", "-n", self.space)
                    self.assertEqual(annotations(get())[VERSION], "4")

    def leaves(self, fields):
        return [
            leaf for name, inner in fields.items() for leaf in (self.leaves(inner) if inner else [name]) if leaf != "."
        ]

    def test_the_pods_are_rolled(self):
        self.install("--set", "serving.kind=deployment,store.uri=s3://bucket/sibyl")
        self.read_container()

        def versions():
            pods = c.get("pods", "-n", self.space, "-l", "app.kubernetes.io/component=model-server")["items"]
            return {p["metadata"].get("annotations", {}).get(VERSION) for p in pods if p["status"]["phase"] == "Running"}

        c.wait("the model's pod", lambda: versions() == {None})
        self.deploy("5")
        c.wait("its successor", lambda: versions() == {"5"})

    def test_what_is_not_ours_is_refused_and_nothing_is_made(self):
        self.install("--set", "serving.kind=deployment,store.uri=s3://bucket/sibyl")
        self.read_container()
        c.kubectl("create", "deployment", "other", "--image=x", "-n", self.space)
        said = self.deploy("5", expect=69, SIBYL_DEPLOY_TARGETS='{"helpdesk": "other"}').stderr
        self.assertIn("forbidden", said)
        self.assertNotIn("sibyl", json.dumps(c.get("deployment", "other", "-n", self.space)["spec"]))
        c.kubectl("delete", "deployment", "sibyl-model-helpdesk", "-n", self.space)
        self.assertIn("not found", self.deploy("5", expect=66).stderr)
        self.assertNotIn("sibyl-model", c.kubectl("get", "deployments", "-n", self.space, "-o", "name"))
