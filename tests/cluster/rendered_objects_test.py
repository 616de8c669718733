#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rendered objects as a whole: goldens, the schemas of custom resources, Milvus, NOTES.

    rendered_objects_test.py --update     writes the goldens anew
"""

import json
import os
import sys
import unittest

import rendering as r
from cases import CASES
from schemas import custom_resources, faults

GOLDENS = os.path.join(r.HERE, "goldens")


def golden(name):
    return os.path.join(GOLDENS, name + ".yaml")


def as_text(objects):
    return r.yaml.safe_dump_all([objects[k] for k in sorted(objects)], sort_keys=True, width=120, allow_unicode=True)


class Goldens(unittest.TestCase):
    def test_both_helms_render_the_goldens(self):
        for name, (files, values) in CASES.items():
            with open(golden(name), encoding="utf-8") as file:
                expected = {(o["kind"], o["metadata"]["name"]): o for o in r.yaml.load_all(file, Loader=r.Strict)}
            for helm in r.HELMS:
                with self.subTest(name, helm=helm):
                    found = r.render(files, values, helm)
                    self.assertEqual(sorted(found), sorted(expected))
                    for key, o in found.items():
                        self.assertEqual(
                            o, expected[key], f"{key}; after a change that is meant: rendered_objects_test.py --update"
                        )

    def test_lint_is_content_with_every_values_file(self):
        files = [[r.preset(f[:-5])] for f in sorted(os.listdir(r.PRESETS))] + [[], [r.QUESTION_ANSWERING, r.MILVUS]]
        for number, given in enumerate(files):
            self.assertIn("0 chart(s) failed", r.lint(given, r.HELMS[number % 2]))


class Schemas(unittest.TestCase):
    """The closed schemas of crds/ and, once the tools are built, Argo's own."""

    def test_custom_resources_follow_their_schemas(self):
        schemas, seen = custom_resources(), set()
        for name, (files, values) in CASES.items():
            for (kind, title), o in r.render(files, values).items():
                schema = schemas.get((o["apiVersion"], kind))
                if schema:
                    seen.add(kind)
                    self.assertEqual(faults(o["spec"], schema, "spec"), [], f"{name}: {title}")
        self.assertLessEqual({"SeldonDeployment", "InferenceService"}, seen)

    def test_what_a_schema_finds(self):
        schema = custom_resources()["machinelearning.seldon.io/v1", "SeldonDeployment"]
        for change, words in (
            (lambda p: p.update(nodeSelector={}), "spec.predictors[0].nodeSelector is unknown"),
            (lambda p: p.update(replicas="2"), "spec.predictors[0].replicas: '2' is no integer"),
            (lambda p: p["graph"].update(type="MODELS"), "is not one of"),
            (lambda p: p.pop("graph"), "spec.predictors[0].graph is missing"),
            (lambda p: p["componentSpecs"][0]["spec"].update(nodeSelector={"a": 1}), "nodeSelector.a: 1 is no string"),
        ):
            o = json.loads(json.dumps(r.render()["SeldonDeployment", "sibyl-model-helpdesk"]))
            change(o["spec"]["predictors"][0])
            self.assertTrue(any(words in x for x in faults(o["spec"], schema, "spec")), words)


class Milvus(unittest.TestCase):
    def config(self, values):
        return r.yaml.load(
            r.render(values={"ml-model-service": {"milvus": values}})["ConfigMap", "sibyl-milvus"]["data"][
                "server_config.yaml"
            ],
            Loader=r.Strict,
        )

    def test_server_config(self):
        cpu, gpu = (
            self.config({}),
            self.config({"gpu": {"enabled": True, "gpuSearchThreshold": 0, "searchDevices": ["gpu0", "gpu1"]}}),
        )
        self.assertEqual(str(cpu["version"]), "0.5")
        self.assertEqual(cpu["gpu"]["enable"], False)
        self.assertEqual(
            gpu["gpu"],
            {
                "enable": True,
                "cache_size": "1GB",
                "gpu_search_threshold": 0,
                "search_devices": ["gpu0", "gpu1"],
                "build_index_devices": ["gpu0"],
            },
        )
        self.assertEqual(
            cpu["network"], {"bind.address": "0.0.0.0", "bind.port": 19530, "http.enable": True, "http.port": 19121}
        )
        self.assertEqual(
            (cpu["cache"]["cache_size"], cpu["wal"]["enable"], cpu["storage"]["path"]), ("4GB", True, "/var/lib/milvus")
        )

    def test_resources_under_the_image_and_beside_it(self):
        gpu, memory = {"limits": {"nvidia.com/gpu": 1}}, {"limits": {"memory": "8Gi"}, "requests": {"memory": "4Gi"}}
        for values, expected in (
            ({"image": {"resources": gpu}}, gpu),
            ({"resources": memory}, memory),
            (
                {"image": {"resources": gpu}, "resources": memory},
                {"limits": {"nvidia.com/gpu": 1, "memory": "8Gi"}, "requests": {"memory": "4Gi"}},
            ),
            ({"image": {"resources": {"limits": {"memory": "1Gi"}}}, "resources": memory}, memory),
            ({}, None),
        ):
            pod = r.render(values={"ml-model-service": {"milvus": values}})["StatefulSet", "sibyl-milvus"]["spec"][
                "template"
            ]["spec"]
            self.assertEqual(pod["containers"][0].get("resources"), expected)

    def test_ports(self):
        service = r.render([r.MILVUS])["Service", "sibyl-milvus"]["spec"]
        self.assertEqual({p["name"]: p["port"] for p in service["ports"]}, {"grpc": 19530, "http": 19121})

    def test_it_can_be_switched_off(self):
        self.assertNotIn(
            ("StatefulSet", "sibyl-milvus"), r.render([r.MILVUS], {"ml-model-service": {"milvus": {"enabled": False}}})
        )


class Notes(unittest.TestCase):
    def test_what_to_do_and_what_to_know(self):
        text = r.notes([r.QUESTION_ANSWERING, r.MILVUS])
        for words in (
            "sibyl cluster submit JOB.yaml",
            "workflowtemplate/sibyl-supervised",
            "http://sibyl-model-helpdesk-default.default.svc:8000",
            "Business Source License",
            "Argo Workflows is not there",
            "Seldon Core is not there",
            "Milvus and training (coldstart, supervised) ask for GPUs of the same pool",
            "the GPU node never goes away",
        ):
            self.assertIn(words, text)
        self.assertNotIn("has no nodeSelector", text)
        self.assertNotIn("without effect", text)

    def test_warnings_come_only_where_they_belong(self):
        self.assertNotIn("Milvus and training", r.notes([r.QUESTION_ANSWERING]))
        self.assertNotIn("Business Source", r.notes(values={"serving": {"kind": "deployment"}}))
        gpu = {"question-answering": {"resources": {"supervised": {"train": {"limits": {"nvidia.com/gpu": 1}}}}}}
        self.assertIn("supervised.train asks for a GPU and has no nodeSelector", r.notes(values=gpu))
        other = {"ml-model-service": {"milvus": {"nodeSelector": {"cloud.google.com/gke-nodepool": "milvus-nodepool"}}}}
        self.assertNotIn("of the same pool", r.notes([r.QUESTION_ANSWERING, r.MILVUS], other))
        self.assertIn("trainer.fallback has no effect", r.notes([r.preset("eks-spot")], {"trainer": {"kind": "job"}}))
        self.assertNotIn("trainer.fallback", r.notes([r.preset("eks-spot")]))
        own = {"answers": {"tls": {"secretName": "tls", "caSecretName": "ca"}}}
        self.assertNotIn("public authority", r.notes(values=own))
        self.assertIn("public authority", r.notes(values={"answers": {"tls": {"secretName": "tls"}}}))
        scaled = {"serving": {"autoscaling": {"enabled": True}}}
        self.assertIn("it will not scale", r.notes(values=scaled))
        cpu = {"question-answering": {"resources": {"default": {"requests": {"cpu": 2}}}}}
        self.assertNotIn("it will not scale", r.notes(values={**scaled, **cpu}))
        serving = {"question-answering": {"resources": {"default": {"limits": {"nvidia.com/gpu": 1}}}}}
        self.assertIn("supervised.seldon asks for a GPU", r.notes(values=serving))

    def test_ignored_values_are_listed(self):
        text = r.notes(
            values={
                "question-answering": {
                    "image": {"qnaTag": "1"},
                    "rbac": {"create": True},
                    "tls": {"keystorePassword": "x"},
                },
                "ml-model-service": {"replicaCount": 2, "milvus": {"mysql": {"enabled": True}}},
            }
        )
        listed = text.split("Accepted and without effect here:\n")[1]
        self.assertEqual(
            [line.strip("* \n") for line in listed.strip().splitlines()],
            [
                "question-answering.image",
                "question-answering.rbac",
                "question-answering.tls",
                "ml-model-service.replicaCount",
                "ml-model-service.milvus.mysql",
            ],
        )


if __name__ == "__main__":
    if "--update" in sys.argv:
        os.makedirs(GOLDENS, exist_ok=True)
        for name, (files, values) in CASES.items():
            with open(golden(name), "w", encoding="utf-8") as file:
                file.write(as_text(r.render(files, values)))
        sys.exit()
    r.main()
