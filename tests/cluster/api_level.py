# SPDX-License-Identifier: Apache-2.0
"""A real API server: takes every object as it stands, loses no field, and an upgrade keeps the model's version."""

import json
import os
import unittest

import cluster as c
import rendering as r
import serve_double
from rendered_objects_test import CASES
from rendered_refusal_test import HOSTILE

MODEL = "sibyl-model-helpdesk"
SERVED = {"seldon": "seldondeployment", "kserve": "inferenceservice", "deployment": "deployment"}


def lost(sent, got, path=""):
    """What of `sent` is not in `got`: paths. Amounts may be written in another way."""
    if isinstance(sent, dict):
        if not isinstance(got, dict):
            return [path]
        # An empty text is how Kubernetes' own objects say that nothing is there.
        return [
            x
            for k, v in sent.items()
            for x in (lost(v, got[k], f"{path}.{k}") if k in got else [f"{path}.{k}"] if v != "" else [])
        ]
    if isinstance(sent, list):
        if not isinstance(got, list) or len(sent) != len(got):
            return [path]
        return [x for i, v in enumerate(sent) for x in lost(v, got[i], f"{path}[{i}]")]
    return (
        []
        if str(sent) == str(got) or {str(sent), str(got)} == {"0.5", "500m"}
        else [f"{path}: {sent!r} became {got!r}"]
    )


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
        c.namespace("misspelt")
        o = json.loads(json.dumps(r.render(namespace="misspelt")["SeldonDeployment", "sibyl-model-helpdesk"]))
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
            # All but the answer server's claim, which outlives the release.
            kinds = c.kubectl("api-resources", "--namespaced", "--verbs=list", "-o", "name").split()
            ours = set(kinds) - {"events", "events.events.k8s.io", "persistentvolumeclaims", "pods", "replicasets.apps"}
            ours -= {k for k in ours if k.startswith(("controllerrevisions", "endpointslices", "endpoints"))}
            left = c.kubectl(
                "get", ",".join(sorted(ours)), "-n", space, "-l", "app.kubernetes.io/instance=sibyl", "-o", "name"
            )
            self.assertEqual(left, "")

    def test_hostile_values_come_out_as_they_went_in(self):
        c.namespace("hostile")
        values = {
            "trainer": {"podAnnotations": {f"a{i}": t for i, t in enumerate(HOSTILE)}},
            "serving": {
                "podAnnotations": {f"a{i}": t for i, t in enumerate(HOSTILE)},
                "env": [{"name": f"E{i}", "value": t} for i, t in enumerate(HOSTILE)],
                "kind": "deployment",
            },
            "answers": {"env": [{"name": f"E{i}", "value": t} for i, t in enumerate(HOSTILE)]},
        }
        path = r.values_file(values)
        self.addCleanup(os.unlink, path)
        c.run("helm", "install", "sibyl", r.CHART, "-n", "hostile", "-f", path)
        pod = c.get("deployment", MODEL, "-n", "hostile")["spec"]["template"]
        self.assertEqual([pod["metadata"]["annotations"][f"a{i}"] for i in range(len(HOSTILE))], HOSTILE)
        env = {e["name"]: e.get("value", "") for e in pod["spec"]["containers"][0]["env"]}
        self.assertEqual([env[f"E{i}"].replace("$$(", "$(") for i in range(len(HOSTILE))], HOSTILE)
        # As a label the API server refuses what no label may hold, by name, and nothing is left half done.
        with self.assertRaises(c.Failed) as refused:
            c.run("helm", "upgrade", "sibyl", r.CHART, "-n", "hostile", "--set-string", 'commonLabels.owner=a"b$(id)')
        self.assertIn("owner" if "owner" in str(refused.exception) else "label", str(refused.exception))
        c.run("helm", "upgrade", "sibyl", r.CHART, "-n", "hostile", "-f", path)

    def test_names_of_64_characters(self):
        c.namespace("names", restricted=False)  # the engine that Seldon adds is not a restricted one
        model = "m" * 63 + "x"
        for serving in SERVED:
            values = r.values_file({"serving": {"kind": serving, "models": [{"name": model, "kind": "supervised"}]}})
            self.addCleanup(os.unlink, values)
            release = f"{serving}-" + "r" * (53 - len(serving) - 1)
            c.run("helm", "install", release, r.CHART, "-n", "names", "-f", values)
        serve_double.make("names")
        c.wait(
            "the Deployments to have pods",
            lambda: len(c.get("pods", "-n", "names", "-l", "app.kubernetes.io/component=model-server")["items"]) == 3,
        )

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
