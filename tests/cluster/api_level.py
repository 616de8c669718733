# SPDX-License-Identifier: Apache-2.0
"""A real API server: takes every object as it stands, loses no field, and an upgrade keeps the model's version."""

import copy
import json
import os
import unittest

import cluster as c
import rendering as r
import serve_double
from cases import CASES
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
    def setUp(self):
        c.fresh_pools("gke")

    def install(self, space, *arguments, helm="helm"):
        c.run(helm, "install", "sibyl", r.CHART, "-n", space, *arguments)

    def test_every_object_is_accepted_and_loses_nothing(self):
        space = c.namespace("api")
        for name, (files, values) in CASES.items():
            objects = r.render(files, values, namespace=space)
            sent = list(objects.values())
            if ("ConfigMap", "sibyl-jobs") in objects:
                sent += r.job_manifests(objects).values()
            self.assertGreater(len(sent), 10, name)
            for o in sent:
                with self.subTest(name, object=f"{o['kind']} {o['metadata']['name']}"):
                    self.assertEqual(lost(o, c.create(o, space, dryRun="All")), [])

    def test_a_misspelt_field_of_a_custom_resource_is_refused(self):
        space = c.namespace("misspelt")
        values = {"retraining": {"schedules": ["@daily"], "job": {"name": "a"}}}
        objects = r.render(namespace=space, values=values)
        for key, at, field in (
            (("SeldonDeployment", MODEL), ("predictors", 0, "componentSpecs", 0), "nodeSelector"),
            (("WorkflowTemplate", "sibyl-supervised"), ("templates", 1), "nodeselector"),
            (("CronWorkflow", "sibyl-retraining"), (), "startingDeadline"),
        ):
            with self.subTest(field):
                o = copy.deepcopy(objects[key])
                c.create(o, space, dryRun="All")
                part = o["spec"]
                for name in at:
                    part = part[name]
                part[field] = {}
                with self.assertRaises(c.Failed) as refused:
                    c.create(o, space, dryRun="All")
                self.assertIn(f'unknown field "spec.{self.written(at)}{field}"', str(refused.exception))

    def written(self, at):
        """("a", 0, "b") as the API server writes it: a[0].b. — with its last point."""
        return "".join(f"[{x}]" if isinstance(x, int) else f".{x}" for x in at).lstrip(".") + ("." if at else "")

    def lives(self, helm):
        space = c.namespace(f"life-{helm}")
        self.install(space, "-f", r.QUESTION_ANSWERING, "-f", r.MILVUS, helm=helm)
        release = ("sibyl", r.CHART, "-n", space, "-f", r.QUESTION_ANSWERING)
        c.run(helm, "upgrade", *release, "--set", "serving.replicas=3")
        replicas = c.get("seldondeployment", MODEL, space)["spec"]["predictors"][0]["replicas"]
        self.assertEqual(replicas, 3)
        self.assertNotIn("sibyl-milvus", c.names("statefulsets", space))
        c.run(helm, "rollback", "sibyl", "1", "-n", space)
        self.assertIn("sibyl-milvus", c.names("statefulsets", space))
        self.assertEqual(len(json.loads(c.run(helm, "history", "sibyl", "-n", space, "-o", "json"))), 3)
        ours = "app.kubernetes.io/instance=sibyl"
        listed = c.api.listed() - {"events", "persistentvolumeclaims", "pods", "replicasets"}
        listed -= {"controllerrevisions", "endpointslices", "endpoints"}
        self.assertIn("sibyl-milvus", [n for kind in listed for n in c.names(kind, space, ours)])
        c.run(helm, "uninstall", "sibyl", "-n", space)
        # All but the answer server's claim, which outlives the release.
        self.assertEqual([f"{kind}/{n}" for kind in listed for n in c.names(kind, space, ours)], [])

    def test_install_upgrade_roll_back_uninstall_by_helm_3(self):
        self.lives("helm3")

    def test_install_upgrade_roll_back_uninstall_by_helm_4(self):
        self.lives("helm")

    def test_hostile_values_come_out_as_they_went_in(self):
        space = c.namespace("hostile")
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
        self.install(space, "-f", path)
        pod = c.get("deployment", MODEL, space)["spec"]["template"]
        self.assertEqual([pod["metadata"]["annotations"][f"a{i}"] for i in range(len(HOSTILE))], HOSTILE)
        env = {e["name"]: e.get("value", "") for e in pod["spec"]["containers"][0]["env"]}
        self.assertEqual([env[f"E{i}"].replace("$$(", "$(") for i in range(len(HOSTILE))], HOSTILE)
        # As a label the API server refuses what no label may hold, by name, and nothing is left half done.
        with self.assertRaises(c.Failed) as refused:
            c.run("helm", "upgrade", "sibyl", r.CHART, "-n", space, "--set-string", 'commonLabels.owner=a"b$(id)')
        self.assertIn("owner" if "owner" in str(refused.exception) else "label", str(refused.exception))
        c.run("helm", "upgrade", "sibyl", r.CHART, "-n", space, "-f", path)

    def test_names_of_64_characters(self):
        space = c.namespace("names", restricted=False)  # the engine that Seldon adds is not a restricted one
        model = "m" * 63 + "x"
        for serving in SERVED:
            values = r.values_file({"serving": {"kind": serving, "models": [{"name": model, "kind": "supervised"}]}})
            self.addCleanup(os.unlink, values)
            release = f"{serving}-" + "r" * (53 - len(serving) - 1)
            c.run("helm", "install", release, r.CHART, "-n", space, "-f", values)
        serve_double.make(space)
        c.wait(
            "the Deployments to have pods",
            lambda: len(c.items("pods", space, "app.kubernetes.io/component=model-server")) == 3,
        )

    def test_who_may_do_what(self):
        space = c.namespace("rights")
        self.install(space)

        def may(account, verb, kind, name=""):
            at, plural, _, _ = c.api.kind(kind)
            asked = {"namespace": space, "verb": verb, "group": at.rpartition("/")[0], "resource": plural, "name": name}
            review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
            review["spec"] = {"resourceAttributes": asked}
            user = f"system:serviceaccount:{space}:sibyl-{account}"
            path = c.api.path("SelfSubjectAccessReview")
            return c.api.request("POST", path, review, user=user)["status"]["allowed"]

        self.assertTrue(may("deploy", "patch", "seldondeployments", MODEL))
        self.assertFalse(may("deploy", "patch", "seldondeployments", "other"))
        for verb in ("create", "patch"):
            self.assertTrue(may("executor", verb, "workflowtaskresults"))
        for account in ("steps", "serving", "answers", "deploy", "executor"):
            for verb, what in (("get", "secrets"), ("create", "pods"), ("delete", "seldondeployments"), ("list", "nodes")):
                self.assertFalse(may(account, verb, what), f"{account} may {verb} {what}")

    def test_the_executors_token_is_filled(self):
        space = c.namespace("token")
        self.install(space)
        c.wait(
            "the executor's token",
            lambda: c.get("secret", "sibyl-executor-token", space).get("data", {}).get("token"),
        )

    def test_notes_know_what_is_there(self):
        space = c.namespace("notes")
        arguments = ("install", "sibyl", r.CHART, "-n", space, "--dry-run=server", "-f", os.path.abspath(r.MILVUS))
        text = c.run("helm", *arguments)
        self.assertIn("NOTES:", text)
        self.assertNotIn("Argo Workflows is not there", text)
        self.assertNotIn("Seldon Core is not there", text)
