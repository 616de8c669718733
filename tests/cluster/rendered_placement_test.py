#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where every step of every kind of job runs, and where its model is served: tables, for the operators' own files
and for each preset, under Helm 3 and 4, with each way of training and of serving."""

import datetime
import unittest

import pools
import rendering as r
import scaledown

GPU = {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 1}}
PRESENT = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
ANY_GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
GKE_SPOT = {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
SKU = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
AKS_SPOT = {
    "key": "kubernetes.azure.com/scalesetpriority",
    "operator": "Equal",
    "value": "spot",
    "effect": "NoSchedule",
}
GKE, EKS, KARPENTER = "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool"
AKS = "kubernetes.azure.com/agentpool"

STEPS = {
    "supervised": ["prepare", "train", "evaluate", "publish", "deploy"],
    "coldstart": ["prepare", "train", "evaluate", "publish", "deploy"],
    "evaluation": ["prepare", "evaluate"],
}
TWO_MODELS = {
    "serving": {
        "kind": "seldon",
        "models": [{"name": "answers", "kind": "supervised"}, {"name": "cold", "kind": "coldstart"}],
    }
}

# name of the case: (values files, place of train, place of every other step, place of the model), each place as
# (selector, tolerations, resources).
NOWHERE = ({}, [], {})
CPU_GKE, CPU_EKS = ({GKE: "cpu-nodepool"}, [], {}), ({EKS: "cpu-nodepool"}, [], {})
CPU_KARPENTER, CPU_AKS = ({KARPENTER: "cpu-nodepool"}, [], {}), ({AKS: "cpunodepool"}, [], {})
TABLE = {
    "nothing given": ([], NOWHERE, NOWHERE, NOWHERE),
    "the operators' file": (
        [r.QUESTION_ANSWERING],
        ({GKE: "gpu-nodepool"}, [PRESENT], GPU),
        ({GKE: "gpu-nodepool"}, [PRESENT], {}),
        CPU_GKE,
    ),
    "both files": (
        [r.QUESTION_ANSWERING, r.MILVUS],
        ({GKE: "gpu-nodepool"}, [PRESENT], GPU),
        ({GKE: "gpu-nodepool"}, [PRESENT], {}),
        CPU_GKE,
    ),
    "the Milvus file": ([r.MILVUS], NOWHERE, NOWHERE, NOWHERE),
    "gke": ([r.preset("gke")], ({GKE: "gpu-nodepool"}, [ANY_GPU], GPU), CPU_GKE, CPU_GKE),
    "gke-spot": (
        [r.preset("gke-spot")],
        ({GKE: "gpu-nodepool", "cloud.google.com/gke-spot": "true"}, [ANY_GPU, GKE_SPOT], GPU),
        CPU_GKE,
        CPU_GKE,
    ),
    "gke-preemptible": (
        [r.preset("gke-preemptible")],
        ({GKE: "gpu-nodepool", "cloud.google.com/gke-preemptible": "true"}, [ANY_GPU], GPU),
        CPU_GKE,
        CPU_GKE,
    ),
    "eks": ([r.preset("eks")], ({EKS: "gpu-nodepool"}, [ANY_GPU], GPU), CPU_EKS, CPU_EKS),
    "eks-spot": (
        [r.preset("eks-spot")],
        ({EKS: "gpu-nodepool", "eks.amazonaws.com/capacityType": "SPOT"}, [ANY_GPU], GPU),
        CPU_EKS,
        CPU_EKS,
    ),
    "eks-karpenter": (
        [r.preset("eks-karpenter")],
        ({KARPENTER: "gpu-nodepool", "karpenter.sh/capacity-type": "spot"}, [ANY_GPU], GPU),
        CPU_KARPENTER,
        CPU_KARPENTER,
    ),
    "aks": ([r.preset("aks")], ({AKS: "gpunodepool"}, [SKU, ANY_GPU], GPU), CPU_AKS, CPU_AKS),
    "aks-spot": (
        [r.preset("aks-spot")],
        ({AKS: "gpunodepool", "kubernetes.azure.com/scalesetpriority": "spot"}, [SKU, ANY_GPU, AKS_SPOT], GPU),
        CPU_AKS,
        CPU_AKS,
    ),
    "gpu-operator": (
        [r.preset("gpu-operator")],
        ({"nvidia.com/gpu.present": "true"}, [ANY_GPU], GPU),
        NOWHERE,
        NOWHERE,
    ),
    "k3s": ([r.preset("k3s")], ({}, [], GPU), NOWHERE, NOWHERE),
    "a preset and the operators' file": (
        [r.preset("gke"), r.QUESTION_ANSWERING],
        ({GKE: "gpu-nodepool"}, [ANY_GPU], GPU),
        ({GKE: "gpu-nodepool"}, [PRESENT], {}),
        CPU_GKE,
    ),
}


def staged(kind, step, value, field="nodeSelector", **more):
    return {"question-answering": {field: {"default": {"from": "default"}, kind: {step: value, **more}}}}


class Placement(unittest.TestCase):
    def check_steps(self, objects, train, other):
        expected = {
            (kind, step): train if step == "train" else other for kind, steps in STEPS.items() for step in steps
        }
        self.assertEqual(r.step_places(objects), expected)

    def test_every_step_of_every_kind(self):
        for name, (files, train, other, _) in TABLE.items():
            for helm in r.HELMS:
                with self.subTest(name, helm=helm):
                    self.check_steps(r.render(files, TWO_MODELS, helm), train, other)

    def check_models(self, objects, part, seldon):
        self.assertEqual(r.serving_places(objects), {(f"sibyl-model-{m}", part): seldon for m in ("answers", "cold")})

    def test_models_in_seldon_are_served_where_seldon_says(self):
        for name, (files, _, _, seldon) in TABLE.items():
            for helm in r.HELMS:
                with self.subTest(name, helm=helm):
                    self.check_models(r.render(files, TWO_MODELS, helm), "default", seldon)

    def test_models_in_kserve_are_served_where_seldon_says(self):
        for name, (files, _, _, seldon) in TABLE.items():
            with self.subTest(name):
                values = {"serving": {**TWO_MODELS["serving"], "kind": "kserve"}}
                self.check_models(r.render(files, values), "predictor", seldon)

    def test_plain_jobs_and_deployments_are_placed_alike(self):
        values = {"trainer": {"kind": "job"}, "serving": {**TWO_MODELS["serving"], "kind": "deployment"}}
        for name, (files, train, other, seldon) in TABLE.items():
            with self.subTest(name):
                objects = r.render(files, values)
                self.assertEqual(r.of_kind(objects, "WorkflowTemplate"), [])
                self.check_steps(objects, train, other)
                self.check_models(objects, "deployment", seldon)

    def test_a_canary_is_placed_like_the_model(self):
        values = {"serving": {"canary": {"share": 20}}}
        places = r.serving_places(r.render([r.QUESTION_ANSWERING], values))
        self.assertEqual(set(places), {("sibyl-model-helpdesk", "default"), ("sibyl-model-helpdesk", "canary")})
        self.assertEqual(set(map(str, places.values())), {str(CPU_GKE)})

    def test_nothing_is_placed_on_the_workflow(self):
        for name, (files, *_) in TABLE.items():
            for template in r.of_kind(r.render(files, TWO_MODELS), "WorkflowTemplate"):
                for field in ("nodeSelector", "tolerations", "affinity", "templateDefaults", "podSpecPatch"):
                    self.assertNotIn(field, template["spec"], f"{name}: {template['metadata']['name']}")

    def test_milvus_runs_where_its_values_say(self):
        for helm in r.HELMS:
            for files in ([r.MILVUS], [r.QUESTION_ANSWERING, r.MILVUS]):
                objects = r.render(files, helm=helm)
                pod = objects["StatefulSet", "sibyl-milvus"]["spec"]["template"]["spec"]
                self.assertEqual(pod["nodeSelector"], {GKE: "gpu-nodepool"})
                self.assertEqual(pod["tolerations"], [PRESENT])
                self.assertEqual(pod["containers"][0]["resources"], GPU)
                self.assertEqual(pod["containers"][0]["image"], "milvusdb/milvus:0.10.2-gpu-d081520-8a2393")
        self.assertNotIn(("StatefulSet", "sibyl-milvus"), r.render([r.QUESTION_ANSWERING]))

    def test_roll_back_does_not_wake_the_gpu_pool(self):
        template = r.render([r.QUESTION_ANSWERING])["WorkflowTemplate", "sibyl-point"]["spec"]["templates"][0]
        self.assertEqual((template["nodeSelector"], template.get("tolerations")), ({GKE: "cpu-nodepool"}, None))


class Pools(unittest.TestCase):
    """On nodes with each cloud's labels and taints, by the scheduler's rules for selectors, taints and amounts."""

    def fits(self, pod, cloud, spot):
        nodes = [pools.node(cloud, "gpu-nodepool", 0, 1, spot), pools.node(cloud, "cpu-nodepool", 0, 0, False)]
        state = scaledown.State(nodes, datetime.datetime.now(datetime.timezone.utc))
        containers = [
            {
                "resources": {
                    "requests": {
                        **c.get("resources", {}).get("limits", {}),
                        **c.get("resources", {}).get("requests", {}),
                    }
                }
            }
            for c in pod["containers"]
        ]
        wanted = {
            "spec": {**{k: pod[k] for k in ("nodeSelector", "tolerations") if k in pod}, "containers": containers}
        }
        return [n["metadata"]["name"].split("-")[1] for n in nodes if state.fits(wanted, n["metadata"]["name"])]

    def test_only_the_pool_that_is_meant(self):
        for files, cloud, spot, others in (
            ([r.QUESTION_ANSWERING, r.MILVUS], "gke", False, "gpu"),
            ([r.preset("gke")], "gke", False, "cpu"),
            ([r.preset("gke-spot")], "gke", True, "cpu"),
            ([r.preset("eks")], "eks", False, "cpu"),
            ([r.preset("eks-spot")], "eks", True, "cpu"),
            ([r.preset("aks")], "aks", False, "cpu"),
            ([r.preset("aks-spot")], "aks", True, "cpu"),
        ):
            objects = r.render(files, TWO_MODELS)
            for kind in STEPS:
                for step in objects["WorkflowTemplate", f"sibyl-{kind}"]["spec"]["templates"]:
                    if "container" in step:
                        pod = {**step, "containers": [step["container"]]}
                        self.assertEqual(
                            self.fits(pod, cloud, spot),
                            ["gpu" if step["name"] == "train" else others],
                            f"{files}: {kind}.{step['name']}",
                        )
            for where, pod, _ in r.pod_specs(objects):
                if where.startswith(("sibyl-model", "sibyl-answers")):
                    self.assertEqual(self.fits(pod, cloud, spot), ["cpu"], f"{files}: {where}")
                if where == "sibyl-milvus":
                    self.assertEqual(self.fits(pod, cloud, spot), ["gpu"])

    def test_a_preset_without_the_spot_toleration_finds_no_spot_node(self):
        train = next(
            t
            for t in r.render([r.preset("aks")])["WorkflowTemplate", "sibyl-supervised"]["spec"]["templates"]
            if t["name"] == "train"
        )
        pod = {**train, "containers": [train["container"]]}
        self.assertEqual((self.fits(pod, "aks", False), self.fits(pod, "aks", True)), (["gpu"], []))

    def test_without_a_selector_a_step_stays_off_the_gpu(self):
        """The pool's taint alone keeps what does not need it away; AKS's and EKS's only because operators set one."""
        for cloud in ("gke", "eks", "aks"):
            step = r.render()["WorkflowTemplate", "sibyl-supervised"]["spec"]["templates"][1]
            self.assertEqual(self.fits({**step, "containers": [step["container"]]}, cloud, False), ["cpu"])


class Resolution(unittest.TestCase):
    """The step's own key, else the kind's `default`, else `default`; empty is an answer, null is none."""

    def selector(self, values, kind, step, helm):
        return r.step_places(r.render(values=values, helm=helm))[kind, step][0]

    def test_table(self):
        default, own = {"from": "default"}, {"from": "own"}
        cases = [
            (
                "nothing of the kind",
                {"question-answering": {"nodeSelector": {"default": default}}},
                "supervised",
                "train",
                default,
            ),
            ("own entry", staged("supervised", "train", own), "supervised", "train", own),
            ("other kinds keep theirs", staged("supervised", "train", own), "coldstart", "train", default),
            ("other steps keep theirs", staged("supervised", "train", own), "supervised", "evaluate", default),
            ("the kind's default", staged("supervised", "default", own), "supervised", "publish", own),
            (
                "own before the kind's default",
                staged("supervised", "default", {"from": "kind"}, train=own),
                "supervised",
                "train",
                own,
            ),
            ("an explicit {} wins", staged("supervised", "train", {}), "supervised", "train", {}),
            ("an empty kind's default wins", staged("coldstart", "default", {}), "coldstart", "deploy", {}),
            ("null is absent", staged("supervised", "train", None), "supervised", "train", default),
            (
                "null falls to the kind's default",
                staged("supervised", "train", None, default=own),
                "supervised",
                "train",
                own,
            ),
            (
                "a kind that is null",
                {"question-answering": {"nodeSelector": {"default": default, "supervised": None}}},
                "supervised",
                "train",
                default,
            ),
            ("sparkSolrEtl is prepare", staged("supervised", "sparkSolrEtl", own), "supervised", "prepare", own),
            (
                "prepare before sparkSolrEtl",
                staged("supervised", "sparkSolrEtl", {"from": "old"}, prepare=own),
                "supervised",
                "prepare",
                own,
            ),
            (
                "sparkSolrEtl before the kind's default",
                staged("coldstart", "sparkSolrEtl", own, default={"from": "kind"}),
                "coldstart",
                "prepare",
                own,
            ),
            ("evaluation.train is its evaluate", staged("evaluation", "train", own), "evaluation", "evaluate", own),
            (
                "evaluation.evaluate before train",
                staged("evaluation", "train", {"from": "old"}, evaluate=own),
                "evaluation",
                "evaluate",
                own,
            ),
            ("supervised.train is not evaluate", staged("supervised", "train", own), "supervised", "evaluate", default),
            ("evaluation.train is not prepare", staged("evaluation", "train", own), "evaluation", "prepare", default),
        ]
        for what, values, kind, step, expected in cases:
            for helm in r.HELMS if "null" in what else ["helm"]:  # the two differ in what they do with null
                with self.subTest(what, helm=helm):
                    self.assertEqual(self.selector(values, kind, step, helm), expected)

    def test_an_explicit_empty_list_of_tolerations_wins(self):
        values = {
            "question-answering": {"tolerations": {"default": [PRESENT], "supervised": {"train": [], "default": [SKU]}}}
        }
        for helm in r.HELMS:
            places = r.step_places(r.render(values=values, helm=helm))
            self.assertEqual(places["supervised", "train"][1], [])
            self.assertEqual(places["supervised", "publish"][1], [SKU])
            self.assertEqual(places["coldstart", "train"][1], [PRESENT])

    def test_fields_resolve_apart(self):
        values = {
            "question-answering": {
                "nodeSelector": {"default": {"a": "b"}},
                "tolerations": {"supervised": {"train": [SKU]}},
                "resources": {"supervised": {"default": {"requests": {"cpu": 2}}}},
            }
        }
        places = r.step_places(r.render(values=values))
        self.assertEqual(places["supervised", "train"], ({"a": "b"}, [SKU], {"requests": {"cpu": 2}}))
        self.assertEqual(places["coldstart", "train"], ({"a": "b"}, [], {}))

    def test_amounts_come_out_as_they_went_in(self):
        amounts = {"cpu": 0.5, "memory": 8589934592, "nvidia.com/gpu": 2, "ephemeral-storage": "10Gi"}
        values = {"question-answering": {"resources": {"default": {"requests": amounts, "limits": amounts}}}}
        for helm in r.HELMS:
            found = r.step_places(r.render(values=values, helm=helm))["evaluation", "prepare"][2]
            self.assertEqual(found, {"requests": amounts, "limits": amounts})
            self.assertIsInstance(found["limits"]["memory"], int)

    def test_tolerations_keep_their_seconds(self):
        toleration = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3600}
        values = {"question-answering": {"tolerations": {"default": [toleration]}}}
        for helm in r.HELMS:
            self.assertEqual(r.step_places(r.render(values=values, helm=helm))["supervised", "train"][1], [toleration])


if __name__ == "__main__":
    r.main()
