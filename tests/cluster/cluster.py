# SPDX-License-Identifier: Apache-2.0
"""Where the test cluster's tools and kubeconfig lie (as in env.sh), and how to ask it things.

Tests run beside each other: each has nodes of its own, with a taint, and its namespaces give their pods the toleration
(PodTolerationRestriction, a plugin of the API server), so values need not know of it.
"""

import itertools
import json
import os
import subprocess
import threading
import time

import pools
from api import Api, Failed

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = os.environ.get("SIBYL_CLUSTER_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sibyl-cluster"
)
BIN = os.path.join(DIR, "bin")
RUN = os.environ.get("SIBYL_CLUSTER_RUN") or os.path.join(DIR, "run")
# Never the caller's own: tests make and delete nodes.
os.environ["KUBECONFIG"] = os.path.join(RUN, "kubeconfig")
os.environ["KUBECACHEDIR"] = os.path.join(RUN, "kubectl-cache")
os.environ["PATH"] = BIN + os.pathsep + os.environ["PATH"]
# Helm's and kubectl's processes live for a second: they need not collect garbage, nor spare the server.
os.environ.setdefault("GOGC", "400")
os.environ.setdefault("HELM_QPS", "500")
os.environ.setdefault("HELM_BURST_LIMIT", "1000")

api = Api(os.environ["KUBECONFIG"])
# Names are used once, also by several test programs on one cluster.
ROUND = os.environ.get("SIBYL_CLUSTER_ROUND", "")
# The bound is for machines that do much else.
PATIENCE = int(os.environ.get("SIBYL_CLUSTER_PATIENCE", "240"))
_numbers = itertools.count(1)
_mine = threading.local()


def run(*command, stdin=None, timeout_s=300):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout_s)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def get(kind, name, space=None):
    return api.request("GET", api.path(kind, name, space))


def items(kind, space=None, labels=None, fields=None):
    query = {k: v for k, v in (("labelSelector", labels), ("fieldSelector", fields)) if v}
    found = api.request("GET", api.path(kind, space=space), **query)
    of = {"apiVersion": found["apiVersion"], "kind": found["kind"].removesuffix("List")}
    return [of | o for o in found["items"]]


def names(kind, space=None, labels=None):
    return [o["metadata"]["name"] for o in items(kind, space, labels)]


def create(o, space=None, **query):
    """As `kubectl create --validate=strict`: an unknown field is an error. → the object as it is now."""
    space = o["metadata"].get("namespace") or space
    return api.request("POST", api.path(f"{o['apiVersion']}/{o['kind']}", space=space), o, fieldValidation="Strict", **query)


def apply(*objects, space="default"):
    for o in objects:
        path = api.path(f"{o['apiVersion']}/{o['kind']}", o["metadata"]["name"], o["metadata"].get("namespace") or space)
        api.request("PATCH", path, o, "application/apply-patch+yaml", fieldManager="test", force="true")


def patch(kind, name, space, change, subresource=None):
    return api.request("PATCH", api.path(kind, name, space, subresource), change, "application/merge-patch+json")


def annotate(kind, name, space, **annotations):
    patch(kind, name, space, {"metadata": {"annotations": {f"sim.sibyl.dev/{k}": v for k, v in annotations.items()}}})


def delete(kind, name, space=None):
    """Returns when it is gone."""
    api.request("DELETE", api.path(kind, name, space))
    wait(f"{kind} {name} to be gone", lambda: not is_there(kind, name, space))


def is_there(kind, name, space=None):
    try:
        return get(kind, name, space)
    except Failed as error:
        if ": 404 " not in str(error):
            raise
        return None


def token(account, space):
    made = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return api.request("POST", api.path("serviceaccount", account, space, "token"), made)["status"]["token"]


def wait(what, probe, seconds=PATIENCE):
    """The first true value of `probe`, asked again and again."""
    end, pause = time.monotonic() + seconds, 0.05
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"gave up waiting for {what} after {seconds} s")
        time.sleep(pause)
        pause = min(0.4, pause * 1.3)


def unschedulable(space, name):
    """Why the scheduler placed this pod nowhere."""

    def probe():
        for c in (is_there("pod", name, space) or {"status": {}})["status"].get("conditions", []):
            if c["type"] == "PodScheduled" and c["status"] == "False":
                return c.get("message")

    return wait(f"{name} to be refused by the scheduler", probe)


def node_of(space, name):
    return wait(f"{name} to be placed", lambda: (is_there("pod", name, space) or {"spec": {}})["spec"].get("nodeName"))


def finish(pod, phase, code, message=None):
    """End a held pod as a kubelet would: every container terminated, then the phase."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def ended(container):
        exit_code = code if container["name"] == "main" else 0
        state = {"terminated": {"exitCode": exit_code, "startedAt": now, "finishedAt": now}}
        of = {"name": container["name"], "image": container["image"], "imageID": ""}
        return of | {"ready": False, "restartCount": 0, "state": state}

    status = {"phase": phase, "containerStatuses": [ended(c) for c in pod["spec"]["containers"]]}
    if message:
        status |= {"reason": "Terminated", "message": message}
    patch("pod", pod["metadata"]["name"], pod["metadata"]["namespace"], {"status": status}, "status")


def key():
    """The value of the taint of this test's nodes."""
    return f"{ROUND}pool-{_mine.number}"


def gpu():
    """The node of the GPU pool that `fresh_pools` made last."""
    return f"{_mine.cloud}-gpu-nodepool-{ROUND}{_mine.number}-0"


def cpu():
    return f"{_mine.cloud}-cpu-nodepool-{ROUND}{_mine.number}-0"


def other():
    """The node of neither pool, where one was asked for."""
    return f"{_mine.cloud}-default-pool-{ROUND}{_mine.number}-0"


def fresh_pools(cloud, *options):
    """The nodes of a cloud's two pools, for the pods of namespaces that this thread makes from now on."""
    _mine.number, _mine.cloud, _mine.options = next(_numbers), cloud, options
    nodes()


def nodes():
    """Makes those nodes that are not there (any more)."""
    made = pools.nodes(_mine.cloud, *_mine.options, "--prefix", f"{ROUND}{_mine.number}-", "--apart", key())
    for node in made:
        if not is_there("node", node["metadata"]["name"]):
            create(node)
    wait("the nodes to be ready", lambda: all(ready(get("node", n["metadata"]["name"])) for n in made))


def ready(node):
    states = {c["type"]: c["status"] for c in node["status"].get("conditions", [])}
    return states.get("Ready") == "True"


def scaledown(node):
    """(may the autoscaler take this node away, what holds it)."""
    import scaledown as rules

    why = rules.ask().reasons(node)
    return not why, why


def namespace(name, restricted=True, quota=None):
    """An empty namespace for this test's nodes, with the strictest pod security unless said otherwise. → its name.
    It stays until the cluster ends: to empty it would cost the cluster more than the test did."""
    tolerations = [{"key": pools.APART, "operator": "Equal", "value": key()}]
    meta = {
        "name": ROUND + name,
        "labels": {"pod-security.kubernetes.io/enforce": "restricted"} if restricted else {},
        "annotations": {"scheduler.alpha.kubernetes.io/defaultTolerations": json.dumps(tolerations)},
    }
    create({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    if quota:
        meta = {"name": "quota", "namespace": ROUND + name}
        create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": quota}})
    wait(f"the service account of {name}", lambda: is_there("serviceaccount", "default", ROUND + name))
    return ROUND + name


def until_argo_knows(space, template):
    """Argo's controller ends a run in Error that names a template which it has not heard of yet."""

    def known():
        meta = {"name": f"probe-{next(_numbers)}", "namespace": space}
        spec = {"workflowTemplateRef": {"name": template}, "suspend": True}
        create({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": meta, "spec": spec})
        status = lambda: get("workflow", meta["name"], space).get("status", {})  # noqa: E731
        wait("Argo to look at a run", lambda: status().get("phase") or status().get("storedWorkflowTemplateSpec"))
        found = status().get("storedWorkflowTemplateSpec")
        delete("workflow", meta["name"], space)
        return found

    wait("Argo to know the template", known)


def secret(space, name="sibyl-api-keys", **values):
    meta = {"name": name, "namespace": space}
    create({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": values or {"key": "k"}})


def volumes(count):
    """Volumes for the claims of all tests, bound when a claim's first pod is placed; no provisioner is simulated."""
    meta = {"name": "simulated", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    storage_class = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta}
    create(storage_class | {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
    for i in range(count):
        spec = {
            "capacity": {"storage": "100Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "simulated",
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": f"/simulated/{i}"},
        }
        create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"simulated-{i}"}, "spec": spec})
