#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the control plane, runs the levels that need it, stops it: live_test.py [Class.test …]"""

import os
import subprocess
import sys
import unittest

import cluster

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


def main():
    missing = [t for t in TOOLS if not os.access(os.path.join(cluster.BIN, t), os.X_OK)]
    if missing:
        print(
            f"skipped: {', '.join(missing)} not there; `./test cluster` builds them with Go"
            " (about half an hour of processor time, once)",
            file=sys.stderr,
        )
        return 77
    up = os.path.join(cluster.HERE, "up.sh")
    if subprocess.run([up, "--argo"], timeout=300).returncode:
        print("the control plane did not come up", file=sys.stderr)
        return 1
    try:
        import api_level
        import argo_level
        import scheduler_level

        names = sys.argv[1:]
        loader = unittest.defaultTestLoader
        suite = (
            unittest.TestSuite(loader.loadTestsFromModule(m) for m in (api_level, scheduler_level, argo_level))
            if not names
            else unittest.TestSuite(
                loader.loadTestsFromName(n, m)
                for n in names
                for m in (api_level, scheduler_level, argo_level)
                if hasattr(m, n.split(".")[0])
            )
        )
        return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1
    finally:
        subprocess.run([os.path.join(cluster.HERE, "down.sh")], timeout=120)


if __name__ == "__main__":
    sys.exit(main())
