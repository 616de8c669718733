# SPDX-License-Identifier: Apache-2.0
"""A real API server: takes every object as it stands, loses no field, and an upgrade keeps the model's version."""

import json
import os
import unittest

import cluster as c
import rendering as r
from rendered_objects_test import CASES

VERSION = "sibyl.dev/model-version"
MODEL = "sibyl-model-helpdesk"
SERVED = {"seldon": "seldondeployment", "kserve": "inferenceservice", "deployment": "deployment"}


def lost(sent, got, path=""):
    """What of `sent` is not in `got`: paths. Amounts may be written in another way."""
    if isinstance(sent, dict):
        if not isinstance(got, dict):
            return [path]
        return [x for k, v in sent.items() for x in (lost(v, got[k], f"{path}.{k}") if k in got else [f"{path}.{k}"])]
    if isinstance(sent, list):
        if not isinstance(got, list) or len(sent) != len(got):
            return [path]
        return [x for i, v in enumerate(sent) for x in lost(v, got[i], f"{path}[{i}]")]
    return (
        []
        if str(sent) == str(got) or {str(sent), str(got)} == {"0.5", "500m"}
        else [f"{path}: {sent!r} became {got!r}"]
    )


def annotation_of_version(kind, name, version):
    """What the step `deploy` applies, and nothing more."""
    annotations = {VERSION: version}
    if kind == "seldondeployment":
        return {
            "apiVersion": "machinelearning.seldon.io/v1",
            "kind": "SeldonDeployment",
            "metadata": {"name": name},
            "spec": {"annotations": annotations},
        }
    if kind == "inferenceservice":
        return {
            "apiVersion": "serving.kserve.io/v1beta1",
            "kind": "InferenceService",
            "metadata": {"name": name},
            "spec": {"predictor": {"annotations": annotations}},
        }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"template": {"metadata": {"annotations": annotations}}},
    }


def version_of(kind, o):
    at = {
        "seldondeployment": lambda: o["spec"]["annotations"],
        "inferenceservice": lambda: o["spec"]["predictor"]["annotations"],
        "deployment": lambda: o["spec"]["template"]["metadata"]["annotations"],
    }[kind]()
    return at.get(VERSION)


def replicas_of(kind, o):
    if kind == "seldondeployment":
        return o["spec"]["predictors"][0]["replicas"]
    return o["spec"]["predictor"]["minReplicas"] if kind == "inferenceservice" else o["spec"]["replicas"]


class Api(unittest.TestCase):
    def tearDown(self):
        c.clean()

    def test_every_object_is_accepted_and_loses_nothing(self):
        c.namespace("api")
        for name, (files, values) in CASES.items():
            objects = r.render(files, values, namespace="api")
            sent = list(objects.values())
            if ("ConfigMap", "sibyl-jobs") in objects:
                sent += r.job_manifests(objects).values()
            for o in sent:
                with self.subTest(name, object=f"{o['kind']} {o['metadata']['name']}"):
                    got = json.loads(
                        c.kubectl(
                            "create",
                            "--dry-run=server",
                            "--validate=strict",
                            "-o",
                            "json",
                            "-f",
                            "-",
                            stdin=json.dumps(o),
                        )
                    )
                    self.assertEqual(lost(o, got), [])

    def test_a_misspelt_field_of_a_custom_resource_is_refused(self):
        c.namespace("api")
        o = json.loads(json.dumps(r.render(namespace="api")["SeldonDeployment", "sibyl-model-helpdesk"]))
        o["spec"]["predictors"][0]["componentSpecs"][0]["nodeSelector"] = {}
        with self.assertRaises(c.Failed) as refused:
            c.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=json.dumps(o))
        self.assertIn("nodeSelector", str(refused.exception))

    def test_install_upgrade_roll_back_uninstall(self):
        for helm in r.HELMS:
            space = f"life-{helm}"
            c.namespace(space)
            c.run(helm, "install", "sibyl", r.CHART, "-n", space, "-f", r.QUESTION_ANSWERING, "-f", r.MILVUS)
            c.run(
                helm,
                "upgrade",
                "sibyl",
                r.CHART,
                "-n",
                space,
                "-f",
                r.QUESTION_ANSWERING,
                "--set",
                "serving.replicas=3",
            )
            replicas = c.get("seldondeployment", "sibyl-model-helpdesk", "-n", space)["spec"]["predictors"][0][
                "replicas"
            ]
            self.assertEqual(replicas, 3)
            self.assertNotIn("sibyl-milvus", c.kubectl("get", "statefulsets", "-n", space, "-o", "name"))
            c.run(helm, "rollback", "sibyl", "1", "-n", space)
            self.assertIn("sibyl-milvus", c.kubectl("get", "statefulsets", "-n", space, "-o", "name"))
            self.assertEqual(len(json.loads(c.run(helm, "history", "sibyl", "-n", space, "-o", "json"))), 3)
            c.run(helm, "uninstall", "sibyl", "-n", space)
            kinds = (
                "statefulsets,deployments,services,configmaps,workflowtemplates,seldondeployments,roles,rolebindings,"
                "networkpolicies"
            )
            left = c.kubectl("get", kinds, "-n", space, "-l", "app.kubernetes.io/instance=sibyl", "-o", "name")
            self.assertEqual(left, "")

    def deploy(self, space, kind, version):
        """What the step `deploy` does, with the rights that the chart gives it."""
        account = f"system:serviceaccount:{space}:sibyl-deploy"
        annotation = json.dumps(annotation_of_version(kind, MODEL, version))
        options = ("--server-side", "--field-manager=sibyl", "-n", space, "--as", account)
        c.kubectl("apply", *options, "-f", "-", stdin=annotation)

    def test_an_upgrade_keeps_the_models_version(self):
        for helm in r.HELMS:
            for serving, kind in SERVED.items():
                with self.subTest(serving, helm=helm):
                    space = f"version-{serving}-{helm}"
                    c.namespace(space)
                    options = ("sibyl", r.CHART, "-n", space, "--set", f"serving.kind={serving}")
                    c.run(helm, "install", *options)
                    self.deploy(space, kind, "7")
                    c.run(helm, "upgrade", *options, "--set", "serving.replicas=2")
                    found = c.get(kind, MODEL, "-n", space)
                    self.assertEqual((version_of(kind, found), replicas_of(kind, found)), ("7", 2))
                    self.deploy(space, kind, "8")
                    self.assertEqual(version_of(kind, c.get(kind, MODEL, "-n", space)), "8")

    def test_who_may_do_what(self):
        c.namespace("rights")
        c.run("helm", "install", "sibyl", r.CHART, "-n", "rights")

        def may(account, verb, what):
            try:
                return (
                    c.kubectl(
                        "auth",
                        "can-i",
                        verb,
                        what,
                        "-n",
                        "rights",
                        "--as",
                        f"system:serviceaccount:rights:sibyl-{account}",
                    ).strip()
                    == "yes"
                )
            except c.Failed:
                return False

        self.assertTrue(may("deploy", "patch", "seldondeployments.machinelearning.seldon.io/sibyl-model-helpdesk"))
        self.assertFalse(may("deploy", "patch", "seldondeployments.machinelearning.seldon.io/other"))
        self.assertTrue(may("executor", "create", "workflowtaskresults.argoproj.io"))
        for account in ("steps", "serving", "answers", "deploy", "executor"):
            for verb, what in (
                ("get", "secrets"),
                ("create", "pods"),
                ("delete", "seldondeployments.machinelearning.seldon.io"),
                ("list", "nodes"),
            ):
                self.assertFalse(may(account, verb, what), f"{account} may {verb} {what}")

    def test_the_executors_token_is_filled(self):
        c.namespace("token")
        c.run("helm", "install", "sibyl", r.CHART, "-n", "token")
        c.wait(
            "the executor's token",
            lambda: c.get("secret", "sibyl-executor-token", "-n", "token").get("data", {}).get("token"),
        )

    def test_notes_know_what_is_there(self):
        c.namespace("notes")
        text = c.run(
            "helm", "install", "sibyl", r.CHART, "-n", "notes", "--dry-run=server", "-f", os.path.abspath(r.MILVUS)
        )
        self.assertNotIn("Argo Workflows is not there", text)
        self.assertNotIn("Seldon Core is not there", text)
