#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The autoscaler's rules, each with a pod that it is about."""

import datetime
import unittest

import scaledown

NOW = datetime.datetime(2026, 11, 30, tzinfo=datetime.timezone.utc)
GPU = "nvidia.com/gpu"


def node(name, gpus=0, labels=None, taints=()):
    size = {"cpu": "8", "memory": "30Gi", "pods": "110"} | ({GPU: str(gpus)} if gpus else {})
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": list(taints)},
        "status": {"allocatable": size},
    }


def pod(owner="Workflow", phase="Running", annotations=None, requests=None, namespace="default", volumes=(), **spec):
    meta = {"name": "p", "namespace": namespace, "annotations": annotations or {}, "labels": {"app": "p"}}
    if owner:
        meta["ownerReferences"] = [{"kind": owner, "name": "owner", "controller": True}]
    return {
        "kind": "Pod",
        "metadata": meta,
        "status": {"phase": phase},
        "spec": {
            "nodeName": "gpu",
            "containers": [{"name": "main", "resources": {"requests": requests or {}}}],
            "volumes": list(volumes),
            **spec,
        },
    }


def owner(kind):
    return {"kind": kind, "metadata": {"name": "owner", "namespace": "default"}}


class Rules(unittest.TestCase):
    def reasons(self, *objects):
        nodes = [node("gpu", 1, {"pool": "gpu"}), node("cpu", 0, {"pool": "cpu"})]
        return scaledown.State([*nodes, *objects], NOW).reasons("gpu")

    def test_an_empty_node_may_go(self):
        self.assertEqual(self.reasons(), [])

    def test_what_does_not_count(self):
        for what in (
            pod(phase="Succeeded"),
            pod(phase="Failed"),
            pod("DaemonSet"),
            pod(annotations={"kubernetes.io/config.mirror": "x"}),
            pod(annotations={scaledown.SAFE: "true"}),
        ):
            self.assertEqual(self.reasons(what), [], what)

    def test_what_holds_a_node(self):
        for what, words in (
            (pod(), "controller that the autoscaler does not know"),
            (pod(None), "no controller"),
            (pod("Job"), "does not exist"),
            (pod("Job", annotations={scaledown.SAFE: "false"}), "safe-to-evict=false"),
            (pod("Job", volumes=[{"name": "tmp", "emptyDir": {}}]), "local storage (volume tmp)"),
            (pod("Job", nodeSelector={"pool": "gpu"}), "fits on no other node"),
        ):
            objects = [what] if words == "does not exist" else [what, owner("Job")]
            self.assertTrue(any(words in reason for reason in self.reasons(*objects)), words)

    def test_a_volume_that_may_be_lost_does_not_hold(self):
        free = {scaledown.SAFE_VOLUMES: "tmp"}
        self.assertEqual(
            self.reasons(pod("Job", annotations=free, volumes=[{"name": "tmp", "emptyDir": {}}]), owner("Job")), []
        )

    def test_a_gpu_in_use_holds(self):
        self.assertTrue(any("100% requested" in x for x in self.reasons(pod("Job", requests={GPU: "1"}), owner("Job"))))
        self.assertFalse(any("requested" in x for x in self.reasons(pod("Job", requests={"cpu": "7"}), owner("Job"))))


if __name__ == "__main__":
    unittest.main()
