# SPDX-License-Identifier: Apache-2.0
"""A real scheduler over simulated nodes: what lands where, what waits, and why."""

import json
import unittest

import cluster as c
import rendering as r
import serve_double

GPU, CPU = "gke-gpu-nodepool-0", "gke-cpu-nodepool-0"


def install(space, *files, quota=None, values=()):
    c.namespace(space, restricted=False, quota=quota)  # the engine that Seldon adds is not a restricted one
    c.volumes(space, 4)
    given = [x for f in files for x in ("-f", f)] + [x for v in values for x in ("--set", v)]
    c.run("helm", "install", "sibyl", r.CHART, "-n", space, *given)
    serve_double.main()


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
    meta = {"name": name, "namespace": space, "annotations": {"sim.sibyl.dev/hold": "true"}}
    c.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod}, namespace=space)
    return name


def gpus(space, name):
    pod = c.get("pod", name, "-n", space)
    return sum(
        int(x.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0)) for x in pod["spec"]["containers"]
    )


def serving_pods(space):
    return c.get("pods", "-n", space, "-l", "seldon-deployment-id=sibyl-model-helpdesk")["items"]


class Scheduler(unittest.TestCase):
    def setUp(self):
        c.no_nodes()
        c.pools("gke")

    def tearDown(self):
        c.clean()

    def test_the_operators_files(self):
        install("s-files", r.QUESTION_ANSWERING)
        for step, held in (("prepare", 0), ("train", 1), ("evaluate", 0)):
            name = step_pod("s-files", "supervised", step, step)
            self.assertEqual(c.node_of("s-files", name), GPU, step)
            self.assertEqual(gpus("s-files", name), held, step)
        pods = c.wait("the model's pods", lambda: serving_pods("s-files"))
        self.assertEqual([c.node_of("s-files", p["metadata"]["name"]) for p in pods], [CPU])
        self.assertEqual(c.node_of("s-files", "sibyl-answers-0"), CPU)
        second = step_pod("s-files", "coldstart", "train", "train-again")
        self.assertIn("Insufficient nvidia.com/gpu", c.unschedulable("s-files", second))
        c.kubectl("delete", "pod", "train", "-n", "s-files", "--wait=true")
        self.assertEqual(c.node_of("s-files", second), GPU)

    def test_milvus_takes_the_gpu(self):
        """What NOTES warns of: with one GPU the training waits, and the node is held."""
        install("s-milvus", r.QUESTION_ANSWERING, r.MILVUS)
        self.assertEqual(c.node_of("s-milvus", "sibyl-milvus-0"), GPU)
        step_pod("s-milvus", "supervised", "train", "train")
        self.assertIn("Insufficient nvidia.com/gpu", c.unschedulable("s-milvus", "train"))
        c.kubectl("delete", "pod", "train", "-n", "s-milvus", "--wait=true")
        may, why = c.scaledown(GPU)
        self.assertFalse(may, why)

    def test_a_full_cpu_pool_does_not_push_the_model_to_the_gpu(self):
        c.namespace("s-filler", restricted=False)
        c.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "filler"},
                "spec": {
                    "nodeSelector": {"kubernetes.io/hostname": CPU},
                    "containers": [
                        {"name": "main", "image": "example.invalid/filler", "resources": {"requests": {"cpu": "7900m"}}}
                    ],
                },
            },
            namespace="s-filler",
        )
        self.assertEqual(c.node_of("s-filler", "filler"), CPU)
        install("s-full", r.QUESTION_ANSWERING)
        pod = c.wait("the model's pods", lambda: serving_pods("s-full"))[0]["metadata"]["name"]
        self.assertIn("Insufficient cpu", c.unschedulable("s-full", pod))
        c.kubectl("delete", "pod", "filler", "-n", "s-filler", "--wait=true")
        self.assertEqual(c.node_of("s-full", pod), CPU)

    def test_without_the_cpu_pool_the_model_waits(self):
        c.kubectl("delete", "node", CPU)
        install("s-none", r.QUESTION_ANSWERING)
        pods = c.wait("the model's pods", lambda: serving_pods("s-none"))
        said = c.unschedulable("s-none", pods[0]["metadata"]["name"])
        self.assertTrue("node affinity/selector" in said or "untolerated taint" in said, said)
        self.assertFalse(c.get("pod", pods[0]["metadata"]["name"], "-n", "s-none")["spec"].get("nodeName"))

    def test_a_quota_holds(self):
        install("s-quota", r.QUESTION_ANSWERING, quota={"requests.nvidia.com/gpu": "1"})
        step_pod("s-quota", "supervised", "train", "train")
        self.assertEqual(c.node_of("s-quota", "train"), GPU)
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
        ):
            with self.subTest(preset):
                c.no_nodes()
                c.pools(*cloud)
                space = f"s-{preset}"
                install(space, r.preset(preset))
                self.assertEqual(
                    c.node_of(space, step_pod(space, "supervised", "train", "train")), f"{cloud[0]}-gpu-nodepool-0"
                )
                for step in ("prepare", "evaluate", "publish", "deploy"):
                    self.assertEqual(
                        c.node_of(space, step_pod(space, "coldstart", step, step)), f"{cloud[0]}-cpu-nodepool-0"
                    )
                pods = c.wait("the model's pods", lambda space=space: serving_pods(space))
                self.assertEqual(c.node_of(space, pods[0]["metadata"]["name"]), f"{cloud[0]}-cpu-nodepool-0")

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
