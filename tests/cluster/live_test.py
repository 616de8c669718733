#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the control plane, runs the levels that need it, stops it: live_test.py [Class.test …]

In a folder and on ports of its own, so that it may run beside another. Tests run beside each other, on nodes of their
own; the longest begin (class attribute `first`). --here takes the cluster that SIBYL_CLUSTER_RUN and
SIBYL_CLUSTER_PORT name; --times prints what each test took, and each program's processor time.
"""

import concurrent.futures
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TOOLS = (
    "etcd",
    "kube-apiserver",
    "kube-scheduler",
    "kube-controller-manager",
    "pod-collector",
    "kwok",
    "workflow-controller",
    "kubectl",
    "helm",
    "helm3",
)
VOLUMES = 250
BESIDE = 3


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
    import deploy_level
    import doctor_level
    import pauses_level
    import scheduler_level

    loader = unittest.defaultTestLoader
    modules = (pauses_level, commands_level, doctor_level, argo_level, api_level, deploy_level, scheduler_level)
    if names:
        found = [loader.loadTestsFromName(n, m) for n in names for m in modules if hasattr(m, n.split(".")[0])]
    else:
        found = [loader.loadTestsFromModule(m) for m in modules]

    def flat(suite):
        return [t for part in suite for t in (flat(part) if isinstance(part, unittest.TestSuite) else [part])]

    # A class that another module imports is loaded there too.
    return sorted({t.id().split(".", 1)[1]: t for t in flat(found)}.values(), key=lambda t: not getattr(t, "first", False))


class Outcomes:
    """What came of tests that run beside each other; each is printed whole when it ends."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seconds, self.bad, self.skipped = {}, [], 0

    def run(self, test):
        result, began = unittest.TestResult(), time.monotonic()
        test.run(result)
        name = test.id().split(".", 1)[1]
        with self.lock:
            self.seconds[name] = time.monotonic() - began
            said = "ok" if result.wasSuccessful() else "FAILED"
            if not result.wasSuccessful():
                self.bad.append(name)
            if result.skipped:
                self.skipped += 1
                said = "skipped: " + result.skipped[0][1]
            print(f"{name} … {said}", file=sys.stderr)
            for _, text in result.errors + result.failures:
                print(text, file=sys.stderr)


def processors():
    """[(program, seconds that it used)] of the control plane and of this test's own children."""
    ticks, found = os.sysconf("SC_CLK_TCK"), []
    for path in glob.glob(os.path.join(os.environ["SIBYL_CLUSTER_RUN"], "*.pid")):
        with open(path, encoding="utf-8") as file, open(f"/proc/{file.read().strip()}/stat", encoding="utf-8") as stat:
            used = stat.read().rsplit(")", 1)[1].split()[11:13]
        found.append((os.path.basename(path)[:-4], sum(map(int, used)) / ticks))
    own = os.times()
    found += [("helm, sibyl and others", own.children_user + own.children_system), ("this test", own.user + own.system)]
    return [*found, ("all", sum(seconds for _, seconds in found))]


def run(found, times=False):
    """In more threads than there are processors, since a test waits half of its time."""
    outcomes, began = Outcomes(), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(BESIDE + len(os.sched_getaffinity(0))) as workers:
        list(workers.map(outcomes.run, found))
    if times:
        for name, seconds in sorted(outcomes.seconds.items(), key=lambda x: -x[1]):
            print(f"{seconds:7.1f} s  {name}", file=sys.stderr)
        for name, seconds in processors():
            print(f"{seconds:7.1f} s of processor time  {name}", file=sys.stderr)
    took = time.monotonic() - began
    print(f"{len(found)} tests, {outcomes.skipped} skipped, {len(outcomes.bad)} failed, {took:.0f} s", file=sys.stderr)
    for name in outcomes.bad:
        print(f"failed: {name}", file=sys.stderr)
    return bool(found) and not outcomes.bad


def start(folder, *options, volumes=VOLUMES):
    """A control plane in this folder; the program that stops it, or None where it did not come up."""
    os.environ["SIBYL_CLUSTER_RUN"] = os.path.join(folder, "run")
    import cluster

    os.environ.setdefault("SIBYL_CLUSTER_PORT", str(free_ports(5)))
    up = [os.path.join(cluster.HERE, "up.sh"), "--argo", "--cloud", "none", *options]
    if os.getuid() == 0 or os.environ.get("SIBYL_CLUSTER_EXEC") == "yes":
        os.environ["SIBYL_CLUSTER_PODS"] = os.path.join(cluster.RUN, "pods")
        os.chmod(folder, 0o711)
        up += ["--exec", os.environ["SIBYL_CLUSTER_PODS"]]
    down = os.path.join(cluster.HERE, "down.sh")
    watch(down)
    if subprocess.run(up, timeout=600).returncode:
        print("the control plane did not come up", file=sys.stderr)
        return None
    cluster.volumes(volumes)
    return down


def missing():
    import cluster

    return [t for t in TOOLS if not os.access(os.path.join(cluster.BIN, t), os.X_OK)]


def main():
    options = {a for a in sys.argv[1:] if a.startswith("--")}
    names = [a for a in sys.argv[1:] if a not in options]
    if "--here" in options:
        return 0 if run(tests(names), "--times" in options) else 1
    folder = tempfile.mkdtemp(prefix="sibyl-cluster-")
    os.environ["SIBYL_CLUSTER_RUN"] = os.path.join(folder, "run")
    if missing():
        os.rmdir(folder)
        print(
            f"skipped: {', '.join(missing())} not there; `./test cluster` builds them with Go"
            " (about half an hour of processor time, once)",
            file=sys.stderr,
        )
        return 77
    good, down = False, None
    try:
        down = start(folder, *(["--crds", "full"] if os.environ.get("SIBYL_LONG_TESTS") else []))
        good = bool(down) and run(tests(names), "--times" in options)
        return 0 if good else 1
    finally:
        if down:
            subprocess.run([down], timeout=120)
        if good:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"logs of the control plane: {os.path.join(folder, 'run')}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
