# SPDX-License-Identifier: Apache-2.0
"""Where the test cluster's tools and kubeconfig lie (as in env.sh), and how to ask it things."""

import json
import os
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = os.environ.get("SIBYL_CLUSTER_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sibyl-cluster"
)
BIN = os.path.join(DIR, "bin")
RUN = os.environ.get("SIBYL_CLUSTER_RUN") or os.path.join(DIR, "run")
# Never the caller's own: tests delete every node that they find.
os.environ["KUBECONFIG"] = os.path.join(RUN, "kubeconfig")
os.environ["KUBECACHEDIR"] = os.path.join(RUN, "kubectl-cache")
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


def wait(what, probe, seconds=240):
    """The first true value of `probe`, asked again and again. The bound is for machines that do much else."""
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


_generation = 0


def gpu(cloud="gke"):
    """The node of the GPU pool that `fresh_pools` made last."""
    return f"{cloud}-gpu-nodepool-{_generation}"


def cpu(cloud="gke"):
    return f"{cloud}-cpu-nodepool-{_generation}"


def fresh_pools(*args):
    """The nodes of a cloud's two pools instead of all that are there. Names count up: a pod of a test before would
    hold what a node of the same name has to give."""
    global _generation
    _generation += 1
    kubectl("delete", "nodes", "--selector=!sim.sibyl.dev/apart", "--wait=true")
    pools(*args, "--first", str(_generation))


def pools(*args):
    """Makes (or makes anew) the nodes of a cloud's two pools."""
    nodes = json.loads(run(os.path.join(HERE, "pools.py"), *args))
    apply_list(nodes)
    names = [f"node/{n['metadata']['name']}" for n in nodes["items"]]
    kubectl("wait", "--for=condition=Ready", *names, "--timeout=240s")


def scaledown(node):
    """(may the autoscaler take this node away, what holds it)."""
    done = subprocess.run([os.path.join(HERE, "scaledown.py"), node], capture_output=True, text=True, timeout=240)
    if done.returncode not in (0, 1):
        raise Failed(done.stderr.strip())
    return done.returncode == 0, done.stdout.strip()


_made = threading.local()  # slow tests run beside the others


def apply_list(items):
    kubectl("apply", "-f", "-", stdin=json.dumps(items))


def namespace(name, restricted=True, quota=None):
    """An empty namespace, with the strictest pod security unless said otherwise; `clean` takes it away."""
    _made.names = [*getattr(_made, "names", []), name]
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
    apply_list({"apiVersion": "v1", "kind": "List", "items": objects})
    wait(
        f"the service account of {name}",
        lambda: "default" in kubectl("get", "serviceaccounts", "-n", name, "-o", "name"),
    )


def clean():
    """Takes away what the test made. Names of namespaces are not used again, so nobody waits for their end."""
    made, _made.names = getattr(_made, "names", []), []
    if made:
        kubectl("delete", "namespace", *made, "--wait=false", "--ignore-not-found")


def volumes(count):
    """Volumes for the claims of all tests, bound when a claim's first pod is placed; no provisioner is simulated."""
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
                "metadata": {"name": f"simulated-{i}"},
                "spec": {
                    "capacity": {"storage": "100Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "simulated",
                    "persistentVolumeReclaimPolicy": "Retain",
                    "hostPath": {"path": f"/simulated/{i}"},
                },
            }
            for i in range(count)
        ),
    )
