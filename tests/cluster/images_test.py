#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The container files agree with the chart and the machine that builds: images, variants, packages of libraries."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import rendering as r

ROOT = os.path.join(r.HERE, "..", "..")
IMAGES = os.path.join(ROOT, "deploy", "images")


def text(name):
    with open(os.path.join(IMAGES, name), encoding="utf-8") as file:
        return file.read()


class Images(unittest.TestCase):
    def test_last_stages_are_small_and_not_root(self):
        for name in ("sibyl.Dockerfile", "trainer.Dockerfile"):
            last = text(name).split("\nFROM ")[-1]
            self.assertTrue(last.startswith("${DEBIAN}-slim"))
            self.assertIn("\nUSER 10001:10001\n", last)
            self.assertNotIn("COPY .", last)
            self.assertIn('\nENTRYPOINT ["sibyl"]\n', last)

    def test_every_builder_takes_them(self):
        # Images of the OCI format have no SHELL: buildah drops it and runs the lines with another shell than was meant.
        for name in ("sibyl.Dockerfile", "trainer.Dockerfile"):
            words = set(re.findall(r"^([A-Z]+) ", text(name), re.M))
            self.assertEqual(
                words - {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "ENTRYPOINT"}, set()
            )
            for program in re.findall(r"^(?:RUN|    |.*\) ).*?((?:tools|deploy)/[\w/-]+)", text(name), re.M):
                self.assertTrue(os.access(os.path.join(ROOT, program), os.X_OK), program)

    def test_a_tree_without_a_build_folder_is_configured(self):
        # .dockerignore keeps build/ out of the image that builds.
        with tempfile.TemporaryDirectory() as tree:
            double = os.path.join(tree, "cmake")
            with open(double, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\necho "$@"\n')
            os.chmod(double, 0o755)
            common = os.path.abspath(os.path.join(ROOT, "tools", "common.sh"))
            subprocess.run(
                ["bash", "-euo", "pipefail", "-c", '. "$1"; configure release -DSIBYL_TRAINER=OFF', "bash", common],
                check=True,
                cwd=tree,
                env={**os.environ, "PATH": f"{tree}:{os.environ['PATH']}", "XDG_CACHE_HOME": tree},
            )
            with open(os.path.join(tree, "build", "release.configure.log"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "--preset release -DSIBYL_TRAINER=OFF\n")

    def test_the_user_is_the_charts(self):
        pod = r.render()["StatefulSet", "sibyl-answers"]["spec"]["template"]["spec"]
        self.assertEqual(pod["securityContext"]["runAsUser"], 10001)

    def test_every_variant_of_the_chart_is_built(self):
        case = re.search(r'case "\$VARIANT" in(.*?)esac', text("trainer.Dockerfile"), re.S).group(1)
        built = set(re.findall(r"^\s*(\w+)\)", case, re.M))
        for variant in ("cpu", "cuda13", "cuda12"):
            self.assertIn(variant, built)
            r.render(values={"images": {"trainer": {"variant": variant}}})

    def test_packages_of_the_libraries_are_found(self):
        program = os.environ.get("SIBYL_PROGRAM", "build/release/sibyl")
        if not os.path.exists(program) or not shutil.which("dpkg-query"):
            self.skipTest("the program is not built, or this is not Debian")
        packages = subprocess.run(
            [os.path.join(IMAGES, "runtime-packages"), program], check=True, capture_output=True, text=True
        ).stdout.split()
        for package in ("libc6", "libstdc++6", "libfmt9", "libcurl4", "libssl3", "libdnnl2"):
            self.assertIn(package, packages)

    def test_a_library_that_lacks_another_is_named(self):
        if not shutil.which("cc") or not shutil.which("dpkg-query"):
            self.skipTest("no compiler, or this is not Debian")
        with tempfile.TemporaryDirectory() as folder:
            # As libtorch_cuda.so: linked with one that was not installed, and with the driver's.
            for name, links in (("gone", []), ("cuda", []), ("user", ["-lgone", "-lcuda"])):
                subprocess.run(
                    ["cc", "-shared", "-x", "c", "/dev/null", "-o", f"lib{name}.so"]
                    + ([f"-Wl,-soname,lib{name}.so.1"] if not links else [])
                    + ["-Wl,--no-as-needed", "-L.", *links],
                    check=True,
                    cwd=folder,
                )
            run = subprocess.run(
                [os.path.join(IMAGES, "runtime-packages"), os.path.join(folder, "libuser.so")],
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual((run.returncode, run.stdout), (69, ""))
        self.assertIn("not found: libgone.so.1 (needed by", run.stderr)


if __name__ == "__main__":
    r.main()
