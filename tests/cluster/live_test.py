#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the control plane, runs the levels that need it, stops it: live_test.py [Class.test …]

In a folder and on ports of its own, so that it may run beside another. Tests that wait for the cluster's own long
pauses (class attribute `apart`) run beside the others, on nodes of their own.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

TOOLS = (
    "etcd",
    "kube-apiserver",
    "kube-scheduler",
    "kube-controller-manager",
    "kwok",
    "workflow-controller",
    "kubectl",
    "helm",
    "helm3",
)
VOLUMES = 120


def free_ports(count):
    """The first of so many ports in a row that nobody listens at."""
    for first in range(26443, 32000, count):
        sockets = [socket.socket() for _ in range(count)]
        try:
            for i, s in enumerate(sockets):
                s.bind(("127.0.0.1", first + i))
            return first
        except OSError:
            continue
        finally:
            for s in sockets:
                s.close()
    raise SystemExit("no free ports")


def watch(down):
    """Stops the cluster also when this process is killed."""
    script = 'while kill -0 "$1" 2>/dev/null; do sleep 1; done; exec "$2"'
    subprocess.Popen(["bash", "-c", script, "-", str(os.getpid()), down], start_new_session=True)


def tests(names):
    import api_level
    import argo_level
    import commands_level
    import scheduler_level

    loader = unittest.defaultTestLoader
    modules = (api_level, scheduler_level, commands_level, argo_level)
    if not names:
        found = [loader.loadTestsFromModule(m) for m in modules]
    else:
        found = [loader.loadTestsFromName(n, m) for n in names for m in modules if hasattr(m, n.split(".")[0])]

    def flat(suite):
        return [t for part in suite for t in (flat(part) if isinstance(part, unittest.TestSuite) else [part])]

    return flat(found)


def run(suite):
    apart = [t for t in suite if getattr(t, "apart", False)]
    ours = [t for t in suite if not getattr(t, "apart", False)]
    outcomes = [unittest.TestResult() for _ in apart]
    threads = [threading.Thread(target=t.run, args=(o,)) for t, o in zip(apart, outcomes)]
    for thread in threads:
        thread.start()
    good = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(ours)).wasSuccessful()
    for test, outcome, thread in zip(apart, outcomes, threads):
        thread.join()
        print(f"{test} … {'ok' if outcome.wasSuccessful() else 'FAILED'}", file=sys.stderr)
        for _, text in outcome.errors + outcome.failures:
            print(text, file=sys.stderr)
        good = good and outcome.wasSuccessful()
    return good


def main():
    folder = tempfile.mkdtemp(prefix="sibyl-cluster-")
    os.environ["SIBYL_CLUSTER_RUN"] = os.path.join(folder, "run")
    os.environ.setdefault("SIBYL_CLUSTER_PORT", str(free_ports(5)))
    import cluster

    missing = [t for t in TOOLS if not os.access(os.path.join(cluster.BIN, t), os.X_OK)]
    if missing:
        os.rmdir(folder)
        print(
            f"skipped: {', '.join(missing)} not there; `./test cluster` builds them with Go"
            " (about half an hour of processor time, once)",
            file=sys.stderr,
        )
        return 77
    up = [os.path.join(cluster.HERE, "up.sh"), "--argo"]
    if os.environ.get("SIBYL_LONG_TESTS"):
        up += ["--crds", "full"]
    if os.getuid() == 0 or os.environ.get("SIBYL_CLUSTER_EXEC") == "yes":
        os.environ["SIBYL_CLUSTER_PODS"] = os.path.join(cluster.RUN, "pods")
        os.chmod(folder, 0o711)
        up += ["--exec", os.environ["SIBYL_CLUSTER_PODS"]]
    down = os.path.join(cluster.HERE, "down.sh")
    watch(down)
    good = False
    try:
        if subprocess.run(up, timeout=600).returncode:
            print("the control plane did not come up", file=sys.stderr)
            return 1
        cluster.volumes(VOLUMES)
        good = run(tests(sys.argv[1:]))
        return 0 if good else 1
    finally:
        subprocess.run([down], timeout=120)
        if good:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"logs of the control plane: {cluster.RUN}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
