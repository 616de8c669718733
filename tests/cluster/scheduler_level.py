# SPDX-License-Identifier: Apache-2.0
"""A real scheduler over simulated nodes: what lands where, what waits, and why."""

import json
import unittest

import cluster as c
import rendering as r
import serve_double

FULL = "Insufficient cpu"
# Of a pool of neither kind. The scheduler looks at taints first, so it says so of no node that has one: neither of the
# GPU pool nor of other tests' nodes.
NOT_CHOSEN = "node(s) didn't match Pod's node affinity/selector"
TAINTED = "node(s) had untolerated taint(s)"


def reasons(said):
    """{reason: nodes} of "0/6 nodes are available: 1 Insufficient cpu, 5 node(s) had …. preemption: …"."""
    counted = (reason.split(" ", 1) for reason in said.split(": ", 1)[1].split(". ")[0].rstrip(".").split(", "))
    return {reason: int(count) for count, reason in counted}


def install(name, *files, quota=None, values=None):
    """The chart's objects in a namespace of this name, without Helm's own bookkeeping. → the namespace"""
    space = c.namespace(name, restricted=False, quota=quota)  # the engine that Seldon adds is not a restricted one
    for o in r.render(files, values, namespace=space).values():
        c.create(o, space)
    serve_double.make(space)
    return space


def step_pod(space, kind, step, name):
    """A pod as Argo makes it of a template: the fields that decide where it lands."""
    spec = c.get("workflowtemplate", f"sibyl-{kind}", space)["spec"]
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
    c.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod})
    return name


def gpus(space, name):
    pod = c.get("pod", name, space)
    return sum(
        int(x.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0)) for x in pod["spec"]["containers"]
    )


def serving_pods(space):
    return c.items("pods", space, "sibyl.dev/model=helpdesk")


def serving_pod(space):
    return c.wait("the model's pod", lambda: serving_pods(space))[0]["metadata"]["name"]


class Scheduler(unittest.TestCase):
    def setUp(self):
        c.fresh_pools("gke", "--other", "1")

    def test_the_operators_files(self):
        space = install("s-files", r.QUESTION_ANSWERING)
        for step, held in (("prepare", 0), ("train", 1), ("evaluate", 0)):
            name = step_pod(space, "supervised", step, step)
            self.assertEqual(c.node_of(space, name), c.gpu(), step)
            self.assertEqual(gpus(space, name), held, step)
        self.assertEqual(c.node_of(space, serving_pod(space)), c.cpu())
        self.assertEqual(len(serving_pods(space)), 1)
        self.assertIn(c.node_of(space, "sibyl-answers-0"), (c.cpu(), c.other()))
        second = step_pod(space, "coldstart", "train", "train-again")
        self.assertIn("Insufficient nvidia.com/gpu", c.unschedulable(space, second))
        c.delete("pod", "train", space)
        self.assertEqual(c.node_of(space, second), c.gpu())

    def test_milvus_takes_the_gpu(self):
        """What NOTES warns of: with one GPU the training waits, and the node is held."""
        space = install("s-milvus", r.QUESTION_ANSWERING, r.MILVUS)
        self.assertEqual(c.node_of(space, "sibyl-milvus-0"), c.gpu())
        step_pod(space, "supervised", "train", "train")
        self.assertIn("Insufficient nvidia.com/gpu", c.unschedulable(space, "train"))
        c.delete("pod", "train", space)
        may, why = c.scaledown(c.gpu())
        self.assertFalse(may, why)

    def fill(self):
        space = c.namespace("s-filler", restricted=False)
        container = {"name": "main", "image": "example.invalid/filler", "resources": {"requests": {"cpu": "7900m"}}}
        filler = {"nodeSelector": {"kubernetes.io/hostname": c.cpu()}, "containers": [container]}
        c.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "filler"}, "spec": filler}, space)
        self.assertEqual(c.node_of(space, "filler"), c.cpu())
        return space

    def test_a_full_cpu_pool_does_not_push_the_model_to_the_gpu(self):
        filler = self.fill()
        asks = {"question-answering": {"resources": {"supervised": {"seldon": {"requests": {"cpu": "500m"}}}}}}
        spaces = {
            kind: install(f"s-full-{kind}", r.QUESTION_ANSWERING, values={**asks, "serving": {"kind": kind}})
            for kind in ("seldon", "kserve", "deployment")
        }
        for kind, space in spaces.items():
            with self.subTest(kind):
                said = c.unschedulable(space, serving_pod(space))
                self.assertTrue(said.startswith("0/"), said)
                found = reasons(said)
                self.assertGreaterEqual(found.pop(TAINTED), 1)
                self.assertEqual(found, {FULL: 1, NOT_CHOSEN: 1})
        c.delete("pod", "filler", filler)
        for kind, space in spaces.items():
            with self.subTest(kind):
                self.assertEqual(c.node_of(space, serving_pod(space)), c.cpu())

    def test_without_the_cpu_pool_the_model_waits(self):
        c.delete("node", c.cpu())
        for kind in ("seldon", "kserve", "deployment"):
            with self.subTest(kind):
                space = install(f"s-none-{kind}", r.QUESTION_ANSWERING, values={"serving": {"kind": kind}})
                pod = serving_pod(space)
                said = c.unschedulable(space, pod)
                self.assertTrue(said.startswith("0/"), said)
                found = reasons(said)
                self.assertGreaterEqual(found.pop(TAINTED), 1)
                self.assertEqual(found, {NOT_CHOSEN: 1})
                self.assertFalse(c.get("pod", pod, space)["spec"].get("nodeName"))

    def test_a_quota_holds(self):
        space = install("s-quota", r.QUESTION_ANSWERING, quota={"requests.nvidia.com/gpu": "1"})
        step_pod(space, "supervised", "train", "train")
        self.assertEqual(c.node_of(space, "train"), c.gpu())
        with self.assertRaises(c.Failed) as refused:
            step_pod(space, "supervised", "train", "second")
        self.assertIn("exceeded quota", str(refused.exception))

    def lands(self, preset, *cloud):
        c.fresh_pools(*cloud)
        space = install(f"s-{preset}", r.preset(preset))
        self.assertEqual(c.node_of(space, step_pod(space, "supervised", "train", "train")), c.gpu())
        for step in ("prepare", "evaluate", "publish", "deploy"):
            self.assertEqual(c.node_of(space, step_pod(space, "coldstart", step, step)), c.cpu())
        self.assertEqual(c.node_of(space, serving_pod(space)), c.cpu())

    def test_one_machine_with_k3s(self):
        c.fresh_pools("k3s", "--cpu", "0")
        runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"}
        c.apply(runtime)
        space = install("s-k3s", r.preset("k3s"))
        train = step_pod(space, "supervised", "train", "train")
        self.assertEqual(c.node_of(space, train), c.gpu())
        self.assertEqual(c.get("pod", train, space)["spec"]["runtimeClassName"], "nvidia")
        self.assertEqual(c.node_of(space, serving_pod(space)), c.gpu())

    def test_plain_jobs_follow_one_another(self):
        space = install("s-jobs", r.QUESTION_ANSWERING, values={"trainer": {"kind": "job"}})
        data = c.get("configmap", "sibyl-jobs", space)["data"]
        job = json.loads(data["supervised.train.json"])
        job["spec"]["template"]["metadata"]["annotations"]["sim.sibyl.dev/exit-code"] = "65"
        c.create(job, space)
        name = job["metadata"]["name"]

        def failed():
            conditions = c.get("job", name, space)["status"].get("conditions", [])
            return next((x for x in conditions if x["type"] == "Failed"), None)

        self.assertEqual(c.wait("a failing program to end its Job", failed)["reason"], "PodFailurePolicy")
        prepare = json.loads(data["supervised.prepare.json"])
        c.create(prepare, space)
        done = lambda: c.get("job", prepare["metadata"]["name"], space)["status"].get("succeeded")  # noqa: E731
        c.wait("prepare to be done", done)


def lands(preset, cloud):
    return lambda self: self.lands(preset, *cloud)


for _preset, _cloud in (
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
    setattr(Scheduler, f"test_the_preset_{_preset.replace('-', '_')}", lands(_preset, _cloud))
