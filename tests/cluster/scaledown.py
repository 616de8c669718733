#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Say whether the cluster autoscaler's rules would let a node scale down, and if not, why.

    scaledown.py NODE...            asks the test cluster
    scaledown.py --all
    scaledown.py --from state.json NODE...   any cluster, saved by
        kubectl get nodes,pods,poddisruptionbudgets,replicasets,replicationcontrollers,statefulsets,jobs -A -o json

Exit code 0: every named node may go. 1: some node is held. 2: the cluster could not be asked. Rules, in the
autoscaler's order and with its default flags: mirror and DaemonSet pods, long-terminating pods and finished pods
do not count; `safe-to-evict: "true"` frees a pod; a pod without a known controller, a
kube-system pod without a disruption budget, `safe-to-evict: "false"`, local storage (hostPath,
emptyDir not in memory) and an exhausted disruption budget hold the node; so does a pod that
fits on no other node, and a node that is used above the threshold (GPUs only on GPU nodes).
"""

import argparse
import datetime
import json
import sys

import cluster

KINDS = ("nodes", "pods", "poddisruptionbudgets", "replicasets", "replicationcontrollers", "statefulsets", "jobs")
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
NO_SCALE_DOWN = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
GPU = "nvidia.com/gpu"
REPLICATED = {"ReplicaSet", "ReplicationController", "StatefulSet", "Job"}
UNITS = {"m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def amount(text):
    number = str(text).rstrip("mkKMGTi")
    return float(number) * UNITS[str(text)[len(number) :]]


def annotation(obj, key):
    return obj["metadata"].get("annotations", {}).get(key)


def controller(pod):
    return next((o for o in pod["metadata"].get("ownerReferences", []) if o.get("controller")), None)


def finished(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def long_terminating(pod, now):
    when = pod["metadata"].get("deletionTimestamp")
    if not when:
        return False
    grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
    deadline = datetime.datetime.fromisoformat(when.replace("Z", "+00:00")) + datetime.timedelta(seconds=grace + 30)
    return deadline < now


def requests(pod):
    total = {"pods": 1.0}
    for c in pod["spec"]["containers"]:
        for name, value in c.get("resources", {}).get("requests", {}).items():
            total[name] = total.get(name, 0) + amount(value)
    return total


def matches(selector, labels):
    """A LabelSelector, or one nodeSelectorTerm: matchLabels and matchExpressions all hold."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    for e in selector.get("matchExpressions") or []:
        has, value, wanted = e["key"] in labels, labels.get(e["key"]), e.get("values", [])
        ok = {
            "In": has and value in wanted,
            "NotIn": not (has and value in wanted),
            "Exists": has,
            "DoesNotExist": not has,
        }.get(e["operator"], False)
        if not ok:
            return False
    return True


def tolerates(pod, taint):
    for t in pod["spec"].get("tolerations", []):
        if t.get("effect") not in (None, "", taint["effect"]):
            continue
        if t.get("operator", "Equal") == "Exists":
            if not t.get("key") or t["key"] == taint["key"]:
                return True
        elif t.get("key") == taint["key"] and t.get("value", "") == taint.get("value", ""):
            return True
    return False


class State:
    def __init__(self, items, now):
        by_kind = {}
        for item in items:
            by_kind.setdefault(item["kind"], []).append(item)
        self.now = now
        self.nodes = {n["metadata"]["name"]: n for n in by_kind.get("Node", [])}
        self.budgets = by_kind.get("PodDisruptionBudget", [])
        self.pods = by_kind.get("Pod", [])
        self.owners = {
            (k, o["metadata"]["namespace"], o["metadata"]["name"]) for k in REPLICATED for o in by_kind.get(k, [])
        }

    def on(self, node):
        return [p for p in self.pods if p["spec"].get("nodeName") == node]

    def budgets_of(self, pod):
        meta = pod["metadata"]
        return [
            b
            for b in self.budgets
            if b["metadata"]["namespace"] == meta["namespace"]
            and matches(b["spec"].get("selector") or {}, meta.get("labels", {}))
        ]

    def counts(self, pod):
        """False for pods that the autoscaler ignores on a node that it removes."""
        owner = controller(pod)
        return not (
            annotation(pod, "kubernetes.io/config.mirror")
            or long_terminating(pod, self.now)
            or (owner and owner["kind"] == "DaemonSet")
            or finished(pod)
        )

    def holds(self, pod):
        """Why this pod may not be evicted, or None."""
        meta, owner = pod["metadata"], controller(pod)
        if annotation(pod, SAFE) == "true":
            return None
        if not owner:
            return "has no controller, so nothing would recreate it"
        if owner["kind"] not in REPLICATED:
            return f"belongs to {owner['kind']} {owner['name']}, a controller that the autoscaler does not know"
        if (owner["kind"], meta["namespace"], owner["name"]) not in self.owners:
            return f"its {owner['kind']} {owner['name']} does not exist"
        budgets = self.budgets_of(pod)
        if meta["namespace"] == "kube-system" and not budgets:
            return "is a kube-system pod without a disruption budget"
        if annotation(pod, SAFE) == "false":
            return f"is annotated {SAFE}=false"
        freed = (annotation(pod, SAFE_VOLUMES) or "").split(",")
        for v in pod["spec"].get("volumes", []):
            local = "hostPath" in v or ("emptyDir" in v and (v["emptyDir"] or {}).get("medium") != "Memory")
            if local and v["name"] not in freed:
                return f"has local storage (volume {v['name']})"
        for b in budgets:
            if b.get("status", {}).get("disruptionsAllowed", 0) < 1:
                return f"its disruption budget {b['metadata']['name']} allows no eviction now"
        return None

    def free(self, node):
        left = {k: amount(v) for k, v in self.nodes[node]["status"].get("allocatable", {}).items()}
        for p in self.on(node):
            if not finished(p):
                for k, v in requests(p).items():
                    left[k] = left.get(k, 0) - v
        return left

    def fits(self, pod, name):
        node = self.nodes[name]
        labels, spec = node["metadata"].get("labels", {}), pod["spec"]
        if node["spec"].get("unschedulable") or not matches({"matchLabels": spec.get("nodeSelector")}, labels):
            return False
        affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms")
        if terms and not any(matches(t, labels) for t in terms):
            return False
        if any(
            t["effect"] in ("NoSchedule", "NoExecute") and not tolerates(pod, t) for t in node["spec"].get("taints", [])
        ):
            return False
        left = self.free(name)
        return all(left.get(k, 0) >= v for k, v in requests(pod).items())

    def used(self, name):
        """Share of the node that is requested: GPUs alone on a GPU node, else the larger of cpu and memory."""
        size = self.nodes[name]["status"].get("allocatable", {})
        names = [GPU] if amount(size.get(GPU, 0)) else ["cpu", "memory"]
        asked = [requests(p) for p in self.on(name) if self.counts(p)]
        return max(sum(r.get(k, 0) for r in asked) / amount(size[k]) for k in names)

    def reasons(self, name, threshold=0.5):
        if name not in self.nodes:
            return ["no such node"]
        if annotation(self.nodes[name], NO_SCALE_DOWN) == "true":
            return [f"node is annotated {NO_SCALE_DOWN}=true"]
        found = []
        if self.used(name) > threshold:
            found.append(f"node is {self.used(name):.0%} requested, above {threshold:.0%}")
        for pod in self.on(name):
            if not self.counts(pod):
                continue
            why = self.holds(pod)
            if not why and not any(self.fits(pod, n) for n in self.nodes if n != name):
                why = "fits on no other node"
            if why:
                found.append(f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']} {why}")
        return found


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def ask():
    """The state of the test cluster."""
    return State([o for kind in KINDS for o in cluster.items(kind)], now())


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("nodes", nargs="*")
    p.add_argument("--all", action="store_true")
    p.add_argument("--from", dest="file", help="saved kubectl JSON instead of a live cluster")
    a = p.parse_args()
    if not (a.nodes or a.all):
        p.error("name a node, or --all")
    if a.file:
        with open(a.file, encoding="utf-8") as f:
            state = State(json.load(f)["items"], now())
    else:
        try:
            state = ask()
        except (cluster.Failed, OSError) as error:
            print(error, file=sys.stderr)
            return 2
    held = False
    for name in a.nodes or sorted(state.nodes):
        reasons = state.reasons(name)
        held |= bool(reasons)
        print(f"{name}: {'held' if reasons else 'may scale down'}")
        for r in reasons:
            print(f"  - {r}")
    return 1 if held else 0


if __name__ == "__main__":
    sys.exit(main())
