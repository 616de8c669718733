# SPDX-License-Identifier: Apache-2.0
"""Where the test cluster's tools and kubeconfig lie (as in env.sh), and how to ask it things."""

import json
import os
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = os.environ.get("SIBYL_CLUSTER_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sibyl-cluster"
)
BIN = os.path.join(DIR, "bin")
# Never the caller's own: tests delete every node that they find.
os.environ["KUBECONFIG"] = os.path.join(DIR, "run", "kubeconfig")
os.environ["PATH"] = BIN + os.pathsep + os.environ["PATH"]


class Failed(Exception):
    """A command said no; the text is what it said."""


def run(*command, stdin=None, timeout_s=300):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout_s)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def kubectl(*args, stdin=None):
    return run("kubectl", *args, stdin=stdin)


def get(*args):
    return json.loads(kubectl("get", *args, "-o", "json"))


def apply(*objects, namespace="default"):
    items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(items))


def wait(what, probe, seconds=60):
    """The first true value of `probe`, asked again and again."""
    end = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"gave up waiting for {what} after {seconds} s")
        time.sleep(0.3)


def unschedulable(namespace, name):
    """Why the scheduler placed this pod nowhere."""

    def probe():
        for c in get("pod", name, "-n", namespace)["status"].get("conditions", []):
            if c["type"] == "PodScheduled" and c["status"] == "False":
                return c.get("message")

    return wait(f"{name} to be refused by the scheduler", probe)


def node_of(namespace, name):
    return wait(f"{name} to be placed", lambda: get("pod", name, "-n", namespace)["spec"].get("nodeName"))


def finish(pod, phase, code, message=None):
    """End a held pod as a kubelet would: every container terminated, then the phase."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    states = [
        {
            "name": c["name"],
            "image": c["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {
                "terminated": {"exitCode": code if c["name"] == "main" else 0, "startedAt": now, "finishedAt": now}
            },
        }
        for c in pod["spec"]["containers"]
    ]
    status = {"phase": phase, "containerStatuses": states}
    if message:
        status |= {"reason": "Terminated", "message": message}
    kubectl(
        "patch",
        "pod",
        pod["metadata"]["name"],
        "-n",
        pod["metadata"]["namespace"],
        "--subresource=status",
        "--type=merge",
        "-p",
        json.dumps({"status": status}),
    )


def pools(*args):
    """Makes (or makes anew) the nodes of a cloud's two pools."""
    nodes = run(os.path.join(HERE, "pools.py"), *args)
    kubectl("apply", "-f", "-", stdin=nodes)
    kubectl("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=60s")


def no_nodes():
    kubectl("delete", "nodes", "--all", "--wait=true")


def scaledown(node):
    """(may the autoscaler take this node away, what holds it)."""
    done = subprocess.run([os.path.join(HERE, "scaledown.py"), node], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        raise Failed(done.stderr.strip())
    return done.returncode == 0, done.stdout.strip()


_made = []


def namespace(name, restricted=True, quota=None):
    """An empty namespace, with the strictest pod security unless said otherwise; `clean` takes it away."""
    _made.append(name)
    labels = {"pod-security.kubernetes.io/enforce": "restricted"} if restricted else {}
    objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}]
    if quota:
        objects.append(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "quota", "namespace": name},
                "spec": {"hard": quota},
            }
        )
    kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    wait(
        f"the service account of {name}",
        lambda: "default" in kubectl("get", "serviceaccounts", "-n", name, "-o", "name"),
    )


def clean():
    """Takes away what tests made: workflows, namespaces and volumes. Claims that are left over would take the
    next test's volumes."""
    made = list(dict.fromkeys(_made))
    _made.clear()
    if made:
        if "workflows.argoproj.io" in kubectl("api-resources", "--api-group=argoproj.io", "-o", "name"):
            for name in made:
                kubectl("delete", "workflows", "--all", "-n", name, "--wait=true", "--ignore-not-found")
        kubectl("delete", "namespace", *made, "--wait=true", "--ignore-not-found")
    kubectl("delete", "persistentvolumes", "--all", "--wait=false")


def volumes(prefix, count):
    """Volumes that claims are bound to when their first pod is placed; no provisioner is simulated."""
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "simulated", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    apply(
        storage_class,
        *(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": f"{prefix}-{i}"},
                "spec": {
                    "capacity": {"storage": "100Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "simulated",
                    "persistentVolumeReclaimPolicy": "Retain",
                    "hostPath": {"path": f"/simulated/{prefix}-{i}"},
                },
            }
            for i in range(count)
        ),
    )
