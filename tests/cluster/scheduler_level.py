# SPDX-License-Identifier: Apache-2.0
"""A real scheduler over simulated nodes: what lands where, what waits, and why."""

import json
import unittest

import cluster as c
import rendering as r
import serve_double

# Why a node of the GPU pool, or one that other tests brought, takes no pod of the model.
NOT_THERE = {"node(s) didn't match Pod's node affinity/selector", "node(s) had untolerated taint(s)"}

ALL_NOT_THERE = [NOT_THERE, *({reason} for reason in NOT_THERE)]


def reasons(said):
    """Of "0/6 nodes are available: 1 Insufficient cpu, 5 node(s) had …. preemption: …", without the counts."""
    return {reason.lstrip("0123456789 ") for reason in said.split(": ", 1)[1].split(". ")[0].rstrip(".").split(", ")}


def install(space, *files, quota=None, values=()):
    c.namespace(space, restricted=False, quota=quota)  # the engine that Seldon adds is not a restricted one
    given = [x for f in files for x in ("-f", f)] + [x for v in values for x in ("--set", v)]
    c.run("helm", "install", "sibyl", r.CHART, "-n", space, *given)
    serve_double.make(space)


def step_pod(space, kind, step, name):
    """A pod as Argo makes it of a template: the fields that decide where it lands."""
    spec = c.get("workflowtemplate", f"sibyl-{kind}", "-n", space)["spec"]
    template = next(t for t in spec["templates"] if t["name"] == step)
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", **template["container"]}],
        "volumes": spec["volumes"],
        "securityContext": spec["securityContext"],
        "serviceAccountName": spec["serviceAccountName"],
    }
    pod |= {k: template[k] for k in ("nodeSelector", "tolerations") if k in template}
    if "runtimeClassName" in template["podSpecPatch"]:
        pod["runtimeClassName"] = json.loads(template["podSpecPatch"])["runtimeClassName"]
    meta = {"name": name, "namespace": space, "annotations": {"sim.sibyl.dev/hold": "true"}}
    c.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod}, namespace=space)
    return name


def gpus(space, name):
    pod = c.get("pod", name, "-n", space)
    return sum(
        int(x.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0)) for x in pod["spec"]["containers"]
    )


def serving_pods(space):
    return c.get("pods", "-n", space, "-l", "sibyl.dev/model=helpdesk")["items"]


def serving_pod(space):
    return c.wait("the model's pod", lambda: serving_pods(space))[0]["metadata"]["name"]


class Scheduler(unittest.TestCase):
    def setUp(self):
        c.fresh_pools("gke")

    def tearDown(self):
        c.clean()

    def test_the_operators_files(self):
        install("s-files", r.QUESTION_ANSWERING)
        for step, held in (("prepare", 0), ("train", 1), ("evaluate", 0)):
            name = step_pod("s-files", "supervised", step, step)
            self.assertEqual(c.node_of("s-files", name), c.gpu(), step)
            self.assertEqual(gpus("s-files", name), held, step)
        self.assertEqual(c.node_of("s-files", serving_pod("s-files")), c.cpu())
        self.assertEqual(len(serving_pods("s-files")), 1)
        self.assertEqual(c.node_of("s-files", "sibyl-answers-0"), c.cpu())
        second = step_pod("s-files", "coldstart", "train", "train-again")
        self.assertIn("Insufficient nvidia.com/gpu", c.unschedulable("s-files", second))
        c.kubectl("delete", "pod", "train", "-n", "s-files", "--wait=true")
        self.assertEqual(c.node_of("s-files", second), c.gpu())

    def test_milvus_takes_the_gpu(self):
        """What NOTES warns of: with one GPU the training waits, and the node is held."""
        install("s-milvus", r.QUESTION_ANSWERING, r.MILVUS)
        self.assertEqual(c.node_of("s-milvus", "sibyl-milvus-0"), c.gpu())
        step_pod("s-milvus", "supervised", "train", "train")
        self.assertIn("Insufficient nvidia.com/gpu", c.unschedulable("s-milvus", "train"))
        c.kubectl("delete", "pod", "train", "-n", "s-milvus", "--wait=true")
        may, why = c.scaledown(c.gpu())
        self.assertFalse(may, why)

    def fill(self):
        c.namespace("s-filler", restricted=False)
        container = {"name": "main", "image": "example.invalid/filler", "resources": {"requests": {"cpu": "7900m"}}}
        filler = {"nodeSelector": {"kubernetes.io/hostname": c.cpu()}, "containers": [container]}
        c.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "filler"}, "spec": filler}, namespace="s-filler")
        self.assertEqual(c.node_of("s-filler", "filler"), c.cpu())

    def test_a_full_cpu_pool_does_not_push_the_model_to_the_gpu(self):
        self.fill()
        asks = "question-answering.resources.supervised.seldon.requests.cpu=500m"
        spaces = {kind: f"s-full-{kind}" for kind in ("seldon", "kserve", "deployment")}
        for kind, space in spaces.items():
            install(space, r.QUESTION_ANSWERING, values=(f"serving.kind={kind}", asks))
        for kind, space in spaces.items():
            with self.subTest(kind):
                said = c.unschedulable(space, serving_pod(space))
                self.assertTrue(said.startswith("0/"), said)
                self.assertIn("Insufficient cpu", reasons(said))
                self.assertIn(reasons(said) - {"Insufficient cpu"}, ALL_NOT_THERE, said)
        c.kubectl("delete", "pod", "filler", "-n", "s-filler", "--wait=true")
        for kind, space in spaces.items():
            with self.subTest(kind):
                self.assertEqual(c.node_of(space, serving_pod(space)), c.cpu())

    def test_without_the_cpu_pool_the_model_waits(self):
        c.kubectl("delete", "node", c.cpu())
        for kind in ("seldon", "kserve", "deployment"):
            with self.subTest(kind):
                space = f"s-none-{kind}"
                install(space, r.QUESTION_ANSWERING, values=(f"serving.kind={kind}",))
                pod = serving_pod(space)
                said = c.unschedulable(space, pod)
                self.assertTrue(said.startswith("0/"), said)
                self.assertIn(reasons(said), ALL_NOT_THERE, said)
                self.assertFalse(c.get("pod", pod, "-n", space)["spec"].get("nodeName"))

    def test_a_quota_holds(self):
        install("s-quota", r.QUESTION_ANSWERING, quota={"requests.nvidia.com/gpu": "1"})
        step_pod("s-quota", "supervised", "train", "train")
        self.assertEqual(c.node_of("s-quota", "train"), c.gpu())
        with self.assertRaises(c.Failed) as refused:
            step_pod("s-quota", "supervised", "train", "second")
        self.assertIn("exceeded quota", str(refused.exception))

    def test_other_clouds_with_their_presets(self):
        for preset, cloud in (
            ("eks", ("eks",)),
            ("eks-spot", ("eks", "--spot")),
            ("aks", ("aks",)),
            ("aks-spot", ("aks", "--spot")),
            ("gke", ("gke",)),
            ("gke-spot", ("gke", "--spot")),
            ("gke-preemptible", ("preemptible",)),
            ("eks-karpenter", ("karpenter", "--spot")),
            ("gpu-operator", ("operator",)),
        ):
            with self.subTest(preset):
                c.fresh_pools(*cloud)
                space = f"s-{preset}"
                install(space, r.preset(preset))
                self.assertEqual(
                    c.node_of(space, step_pod(space, "supervised", "train", "train")), c.gpu(cloud[0])
                )
                for step in ("prepare", "evaluate", "publish", "deploy"):
                    self.assertEqual(
                        c.node_of(space, step_pod(space, "coldstart", step, step)), c.cpu(cloud[0])
                    )
                self.assertEqual(c.node_of(space, serving_pod(space)), c.cpu(cloud[0]))

    def test_one_machine_with_k3s(self):
        c.fresh_pools("k3s", "--cpu", "0")
        runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"}
        c.apply(runtime)
        install("s-k3s", r.preset("k3s"))
        train = step_pod("s-k3s", "supervised", "train", "train")
        self.assertEqual(c.node_of("s-k3s", train), c.gpu("k3s"))
        self.assertEqual(c.get("pod", train, "-n", "s-k3s")["spec"]["runtimeClassName"], "nvidia")
        self.assertEqual(c.node_of("s-k3s", serving_pod("s-k3s")), c.gpu("k3s"))

    def test_plain_jobs_follow_one_another(self):
        install("s-jobs", r.QUESTION_ANSWERING, values=("trainer.kind=job",))
        data = c.get("configmap", "sibyl-jobs", "-n", "s-jobs")["data"]
        job = json.loads(data["supervised.train.json"])
        job["spec"]["template"]["metadata"]["annotations"]["sim.sibyl.dev/exit-code"] = "65"
        c.apply(job, namespace="s-jobs")
        name = job["metadata"]["name"]

        def failed():
            conditions = c.get("job", name, "-n", "s-jobs")["status"].get("conditions", [])
            return next((x for x in conditions if x["type"] == "Failed"), None)

        self.assertEqual(c.wait("a failing program to end its Job", failed)["reason"], "PodFailurePolicy")
        prepare = json.loads(data["supervised.prepare.json"])
        c.apply(prepare, namespace="s-jobs")
        c.wait(
            "prepare to be done",
            lambda: c.get("job", prepare["metadata"]["name"], "-n", "s-jobs")["status"].get("succeeded"),
        )
