# SPDX-License-Identifier: Apache-2.0
"""The step `deploy` with the account that the chart makes: one annotation, kept by upgrades of Helm 3 and 4."""

import json
import os

import cluster as c
import rendering as r
from commands_level import Commands
from program import s3_double

VERSION = "sibyl.dev/model-version"

OBJECTS = {
    "seldon": ("seldondeployment", lambda o: o["spec"]["annotations"]),
    "kserve": ("inferenceservice", lambda o: o["spec"]["predictor"]["annotations"]),
    "deployment": ("deployment", lambda o: o["spec"]["template"]["metadata"]["annotations"]),
}


class Deploy(Commands):
    """The step itself, with the token of the account that the chart makes, by the environment that the chart gives."""

    def setUp(self):
        super().setUp()
        url, self.store = s3_double.start()
        self.store_env = {
            "AWS_ENDPOINT_URL": url,
            "AWS_REGION": "eu-test-1",
            "AWS_ACCESS_KEY_ID": "test-key",
            "AWS_SECRET_ACCESS_KEY": "test-secret",
        }
        with open(os.path.join(c.RUN, "certs", "apiserver.crt"), encoding="utf-8") as file:
            self.write("account/ca.crt", file.read())

    def publish(self, version):
        """What the step publish leaves: the model in the store, and its report in the workspace."""
        at = f"bucket/sibyl/models/helpdesk/{version}/sibyl.json"
        self.store.objects[at] = (b'{"format": 1}', '"e"', {})
        folder = f"work-{version}"
        self.write(folder + "/job.json", json.dumps({"format": 1, "kind": "supervised", "name": "helpdesk"}))
        self.write(folder + "/done/publish", "")
        self.write(folder + "/report/publish.json", json.dumps({"model": f"helpdesk@{version}", "version": version}))
        return self.path(folder)

    def deploy(self, version, expect=0, **more):
        env = {
            e["name"]: e["value"]
            for e in self.container["env"]
            if e["name"].startswith("SIBYL_") and "value" in e and e["name"] != "SIBYL_API_KEY"
        }
        self.write("account/token", c.token("sibyl-deploy", self.space))
        env |= {
            **self.store_env,
            "SIBYL_DEPLOY_ACCOUNT": self.path("account"),
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": os.environ["SIBYL_CLUSTER_PORT"],
            **more,
        }
        return self.sibyl("step", "deploy", "--workspace", self.publish(version), expect=expect, env=env)

    def read_container(self):
        template = c.get("workflowtemplate", "sibyl-supervised", self.space)["spec"]["templates"]
        self.container = next(t["container"] for t in template if t["name"] == "deploy")

    def outlives(self, helm, serving):
        kind, annotations = OBJECTS[serving]
        release = ("sibyl", r.CHART, "-n", self.space, "--set", f"serving.kind={serving},store.uri=s3://bucket/sibyl")
        c.run(helm, "install", *release)
        self.read_container()
        found = c.get(kind, "sibyl-model-helpdesk", self.space)
        self.assertNotIn(VERSION, json.dumps(found), "the chart never says which version runs")
        self.deploy("3")
        found = c.get(kind, "sibyl-model-helpdesk", self.space)
        self.assertEqual(annotations(found)[VERSION], "3")
        (ours,) = [m for m in found["metadata"]["managedFields"] if m["manager"] == "sibyl"]
        self.assertEqual(ours["operation"], "Apply")
        self.assertEqual(self.leaves(ours["fieldsV1"]), ["f:" + VERSION])
        self.assertEqual(self.store.objects["bucket/sibyl/models/helpdesk/current"][0], b'{"version":"3"}\n')
        version = lambda: annotations(c.get(kind, "sibyl-model-helpdesk", self.space))[VERSION]  # noqa: E731
        c.run(helm, "upgrade", *release, "--set", "serving.replicas=2,serving.podAnnotations.a=b")
        self.assertEqual(version(), "3")
        self.deploy("4")
        self.assertEqual(version(), "4")
        c.run(helm, "rollback", "sibyl", "1", "-n", self.space)
        self.assertEqual(version(), "4")

    def leaves(self, fields):
        return [
            leaf for name, inner in fields.items() for leaf in (self.leaves(inner) if inner else [name]) if leaf != "."
        ]

    def test_the_pods_are_rolled(self):
        self.install("--set", "serving.kind=deployment,store.uri=s3://bucket/sibyl")
        self.read_container()

        def versions():
            pods = c.items("pods", self.space, "app.kubernetes.io/component=model-server")
            return {p["metadata"].get("annotations", {}).get(VERSION) for p in pods if p["status"]["phase"] == "Running"}

        c.wait("the model's pod", lambda: versions() == {None})
        self.deploy("5")
        c.wait("its successor", lambda: versions() == {"5"})

    def test_what_is_not_ours_is_refused_and_nothing_is_made(self):
        self.install("--set", "serving.kind=deployment,store.uri=s3://bucket/sibyl")
        self.read_container()
        labels = {"app": "other"}
        spec = {"containers": [{"name": "x", "image": "x"}]}
        spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
        c.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "other"}, "spec": spec}, self.space)
        said = self.deploy("5", expect=69, SIBYL_DEPLOY_TARGETS='{"helpdesk": "other"}').stderr
        self.assertIn("forbidden", said)
        self.assertNotIn("sibyl", json.dumps(c.get("deployment", "other", self.space)["spec"]))
        c.delete("deployment", "sibyl-model-helpdesk", self.space)
        self.assertIn("not found", self.deploy("5", expect=66).stderr)
        self.assertFalse([n for n in c.names("deployments", self.space) if n.startswith("sibyl-model")])


def each(helm, serving):
    return lambda self: self.outlives(helm, serving)


for _helm in r.HELMS:
    for _serving in OBJECTS:
        setattr(Deploy, f"test_the_version_outlives_{_helm}_with_{_serving}", each(_helm, _serving))
