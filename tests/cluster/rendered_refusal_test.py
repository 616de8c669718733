#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values that must be refused, with the key in the message; values of older charts that must not be; values that
would do harm if they reached a shell, a template engine or YAML once more."""

import json
import re
import unittest

import rendering as r

# Each: what is wrong, values, words that the message holds under both Helms (paths are written with . or /).
REFUSED = [
    ("a misspelt kind", {"question-answering": {"nodeSelector": {"supervized": {}}}}, ["nodeSelector", "supervized"]),
    (
        "a misspelt step",
        {"question-answering": {"tolerations": {"supervised": {"trian": []}}}},
        ["tolerations.supervised", "trian"],
    ),
    ("a misspelt field", {"question-answering": {"nodeSelectors": {}}}, ["question-answering", "nodeSelectors"]),
    ("a misspelt key at the top", {"question-answring": {}}, ["question-answring"]),
    (
        "a misspelt toleration",
        {"question-answering": {"tolerations": {"default": [{"keys": "a"}]}}},
        ["tolerations.default.0", "keys"],
    ),
    (
        "an unknown effect",
        {"question-answering": {"tolerations": {"default": [{"key": "a", "effect": "NoSchedul"}]}}},
        ["tolerations.default.0.effect"],
    ),
    (
        "a number as label",
        {"question-answering": {"nodeSelector": {"default": {"pool": 3}}}},
        ["nodeSelector.default.pool", "string"],
    ),
    (
        "true as label",
        {"question-answering": {"nodeSelector": {"supervised": {"train": {"spot": True}}}}},
        ["nodeSelector.supervised.train.spot", "string"],
    ),
    (
        "a list as selector",
        {"question-answering": {"nodeSelector": {"supervised": {"train": []}}}},
        ["nodeSelector.supervised.train", "array"],
    ),
    (
        "a text as selector",
        {"question-answering": {"nodeSelector": {"default": "gpu-nodepool"}}},
        ["nodeSelector.default", "string"],
    ),
    (
        "a map as tolerations",
        {"question-answering": {"tolerations": {"supervised": {"seldon": {}}}}},
        ["tolerations.supervised.seldon", "object"],
    ),
    (
        "a text as kind",
        {"question-answering": {"resources": {"coldstart": "train"}}},
        ["resources.coldstart", "string"],
    ),
    (
        "a misspelt resource section",
        {"question-answering": {"resources": {"coldstart": {"train": {"limit": {}}}}}},
        ["resources.coldstart.train", "limit"],
    ),
    (
        "a list as amount",
        {"question-answering": {"resources": {"default": {"limits": {"cpu": [1]}}}}},
        ["resources.default.limits.cpu"],
    ),
    ("a misspelt Milvus key", {"ml-model-service": {"milvus": {"gpus": {}}}}, ["ml-model-service.milvus", "gpus"]),
    (
        "a text as Milvus's switch",
        {"ml-model-service": {"milvus": {"gpu": {"enabled": "yes"}}}},
        ["milvus.gpu.enabled", "string"],
    ),
    (
        "a size with a line end",
        {"ml-model-service": {"milvus": {"cache": {"cacheSize": "4GB\nversion: 9"}}}},
        ["milvus.cache.cacheSize"],
    ),
    (
        "a device that is none",
        {"ml-model-service": {"milvus": {"gpu": {"searchDevices": ["0"]}}}},
        ["milvus.gpu.searchDevices.0"],
    ),
    ("a misspelt service key", {"ml-model-service": {"milvuss": {}}}, ["ml-model-service", "milvuss"]),
    ("an unknown way to train", {"trainer": {"kind": "jobs"}}, ["trainer.kind", "argo"]),
    ("a text as number", {"trainer": {"retries": "many"}}, ["trainer.retries", "string"]),
    ("a fraction of replicas", {"serving": {"replicas": 1.5}}, ["serving.replicas", "integer"]),
    ("an unknown way to serve", {"serving": {"kind": "seldn"}}, ["serving.kind", "kserve"]),
    ("a model of no kind", {"serving": {"models": [{"name": "a"}]}}, ["serving.models.0", "kind"]),
    (
        "a model's name with a slash",
        {"serving": {"models": [{"name": "../a", "kind": "supervised"}]}},
        ["serving.models.0.name"],
    ),
    (
        "a model's name of 65",
        {"serving": {"models": [{"name": "a" * 65, "kind": "supervised"}]}},
        ["serving.models.0.name"],
    ),
    ("a share of 100", {"serving": {"canary": {"share": 100}}}, ["serving.canary.share"]),
    ("a store that is none", {"store": {"uri": "bucket/prefix"}}, ["store.uri"]),
    ("a port of none", {"answers": {"service": {"httpPort": 0}}}, ["answers.service.httpPort"]),
    ("root", {"security": {"runAsUser": 0}}, ["security.runAsUser"]),
    # What a schema cannot say.
    (
        "a GPU request unlike its limit",
        {
            "question-answering": {
                "resources": {
                    "supervised": {"train": {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}}}
                }
            }
        },
        ["question-answering.resources.supervised.train", "requests.nvidia.com/gpu is 1", "limits.nvidia.com/gpu is 2"],
    ),
    (
        "a GPU request without limit",
        {"question-answering": {"resources": {"coldstart": {"default": {"requests": {"nvidia.com/gpu": 1}}}}}},
        ["question-answering.resources.coldstart.default", "limits.nvidia.com/gpu is missing"],
    ),
    (
        "half a GPU",
        {"question-answering": {"resources": {"default": {"limits": {"nvidia.com/gpu": 0.5}}}}},
        ["question-answering.resources.default", "nvidia.com/gpu is 0.5", "whole"],
    ),
    (
        "Milvus's GPU request unlike its limit",
        {
            "ml-model-service": {
                "milvus": {"image": {"resources": {"requests": {"nvidia.com/gpu": 2}, "limits": {"nvidia.com/gpu": 1}}}}
            }
        },
        ["ml-model-service.milvus.image.resources", "equal"],
    ),
    (
        "a kind that is not run",
        {"question-answering": {"resources": {"evaluation": {"seldon": {"requests": {"amd.com/gpu": 1}}}}}},
        ["question-answering.resources.evaluation.seldon"],
    ),
    (
        "Exists with a value",
        {"question-answering": {"tolerations": {"default": [{"key": "a", "operator": "Exists", "value": "b"}]}}},
        ["question-answering.tolerations.default[0]", "Exists takes no value"],
    ),
    (
        "no key and Equal",
        {"question-answering": {"tolerations": {"default": [{"value": "b"}]}}},
        ["question-answering.tolerations.default[0]", "key is empty"],
    ),
    ("a workspace in no store", {"workspace": {"kind": "store"}}, ["workspace.kind", "store.uri"]),
    (
        "a schedule of plain Jobs",
        {"trainer": {"kind": "job"}, "retraining": {"schedules": ["0 3 * * 0"], "job": {"name": "a"}}},
        ["retraining.schedules", "trainer.kind"],
    ),
    ("a schedule of nothing", {"retraining": {"schedules": ["0 3 * * 0"]}}, ["retraining.job"]),
    ("a fallback to nowhere", {"trainer": {"fallback": {"after": 3}}}, ["trainer.fallback.nodeSelector"]),
    (
        "a fallback that never comes",
        {"trainer": {"retries": 3, "fallback": {"after": 3, "nodeSelector": {"a": "b"}}}},
        ["trainer.fallback.after", "trainer.retries"],
    ),
    (
        "the same model twice",
        {"serving": {"models": [{"name": "a", "kind": "supervised"}, {"name": "a", "kind": "coldstart"}]}},
        ["serving.models[1].name"],
    ),
    ("an ingress of no host", {"answers": {"ingress": {"enabled": True}}}, ["answers.ingress.host"]),
    (
        "a model that nothing holds",
        {"answers": {"enabled": False}},
        ["serving.models[0].uri", "store.uri", "answers.enabled"],
    ),
    (
        "fewer than at least",
        {"serving": {"autoscaling": {"enabled": True, "minReplicas": 6}}},
        ["serving.autoscaling", "minReplicas is 6"],
    ),
]

# Whole trees of the charts that this one replaces.
OLD_QUESTION_ANSWERING = {
    "question-answering": {
        "image": {
            "debug": False,
            "imagePullPolicy": "IfNotPresent",
            "imagePullSecrets": [],
            "repository": "example",
            "tag": "1",
            "qnaTag": "2",
            "seldonTag": "3",
        },
        "rbac": {"create": True},
        "tls": {"enabled": False, "keystorePassword": "changeit"},
        "securityContext": {"fsGroup": 8764},
        "containersSecurityContext": {"capabilities": {"drop": ["NET_RAW"]}},
        "nodeSelector": {
            "default": {},
            "coldstart": {"seldon": None, "sparkSolrEtl": None, "train": None},
            "supervised": {"seldon": None, "sparkSolrEtl": None, "train": None},
            "evaluation": {"sparkSolrEtl": None, "train": None},
            "deploy": {"seldon": None},
        },
        "resources": {
            "default": {},
            "coldstart": {"seldon": {}, "sparkSolrEtl": {}, "train": {}},
            "evaluation": {"seldon": {}},
            "deploy": {"seldon": {}},
        },
        "tolerations": {"default": [], "evaluation": {"sparkSolrEtl": None, "train": None}},
    }
}
OLD_SERVICE = {
    "ml-model-service": {
        "replicaCount": 2,
        "autoscaling": {"enabled": True, "minReplicas": 2, "maxReplicas": 6},
        "port": 8086,
        "modelRepoImpl": "fusion",
        "fs": {"enabled": True, "workingDir": "/tmp/model_repository"},
        "gcsBucket": "b",
        "javaService": {},
        "pythonService": {},
        "podDisruptionBudget": {"maxUnavailable": 1},
        "networkPolicy": {"enabled": True},
        "nodeSelector": {},
        "affinity": {},
        "tls": {"enabled": False},
        "securityContext": {"runAsNonRoot": True},
        "ambassador": {"autoscaling": {"enabled": False}},
        "milvus": {
            "replicas": 1,
            "cluster": {"enabled": False},
            "cache": {"cacheSize": "4GB", "insertBufferSize": "1GB"},
            "gpu": {
                "enabled": False,
                "cacheSize": "1GB",
                "gpuSearchThreshold": 1000,
                "searchDevices": ["gpu0"],
                "buildIndexDevices": ["gpu0"],
            },
            "storage": {"autoFlushInterval": 1},
            "wal": {"enabled": True, "bufferSize": "256MB"},
            "persistence": {
                "enabled": True,
                "persistentVolumeClaim": {"existingClaim": "milvuspvc", "size": "50Gi", "accessModes": "ReadWriteMany"},
            },
            "network": {"httpPort": 19121},
            "service": {"port": 19530},
            "metrics": {"enabled": False, "port": 9091},
            "mysql": {"enabled": True},
            "admin": {"enabled": False},
            "readonly": {},
            "mishards": {},
        },
    }
}

HOSTILE = [
    'a"b',
    "a'b",
    "$(touch /tmp/x)",
    "`touch /tmp/x`",
    "a\nb: c",
    "&anchor *anchor",
    "{{ .Values }}",
    "{{workflow.name}}",
    "}}",
    "# no",
    "'; touch /tmp/x; '",
    "!!binary x",
    "\\u007d",
    "- a",
    "yes",
    "1",
    "~",
    "é→\u2028",
    "%s %d",
]


def said(message):
    """Helm 4 writes /a/b/0 where Helm 3 writes a.b.0; the question is only whether the key is there."""
    return re.sub(r"(?<=[\w'])/(?=[\w.])", ".", message.replace("'/", "'"))


class Refusal(unittest.TestCase):
    def test_wrong_values_are_refused_by_name(self):
        for what, values, words in REFUSED:
            for helm in r.HELMS:
                with self.subTest(what, helm=helm):
                    with self.assertRaises(r.Refused) as refused:
                        r.render(values=values, helm=helm)
                    message = str(refused.exception)
                    for word in words:
                        self.assertTrue(word in message or word in said(message), f"{word!r} is not in: {message}")

    def test_the_values_of_older_charts_are_taken(self):
        for helm in r.HELMS:
            objects = r.render(values={**OLD_QUESTION_ANSWERING, **OLD_SERVICE}, helm=helm)
            milvus = objects["StatefulSet", "sibyl-milvus"]["spec"]
            self.assertNotIn("volumeClaimTemplates", milvus)
            self.assertIn(
                {"name": "data", "persistentVolumeClaim": {"claimName": "milvuspvc"}},
                milvus["template"]["spec"]["volumes"],
            )
            self.assertEqual(
                milvus["template"]["spec"]["containers"][0]["image"], "milvusdb/milvus:0.10.2-cpu-d081520-8a2393"
            )

    def test_null_is_absent_at_every_depth(self):
        plain = {name for _, name in r.render()}
        for values in (
            {"question-answering": None},
            {
                "question-answering": {
                    "nodeSelector": None,
                    "tolerations": {"default": None},
                    "resources": {"supervised": None},
                }
            },
            {"ml-model-service": None},
            {"ml-model-service": {"milvus": None}},
        ):
            for helm in r.HELMS:
                with self.subTest(values, helm=helm):
                    objects = r.render(values=values, helm=helm)
                    self.assertEqual({name for _, name in objects}, plain)
                    self.assertEqual(set(map(str, r.step_places(objects).values())), {str(({}, [], {}))})

    def test_globals_of_a_parent_chart_are_taken(self):
        r.render(values={"global": {"anything": [1]}})


class Misuse(unittest.TestCase):
    """Whatever a value holds, it comes out as that value and nowhere else."""

    def hostile(self, text):
        return {
            "question-answering": {
                "nodeSelector": {"default": {"pool": text}, "supervised": {"train": {"pool": text}}},
                "tolerations": {"default": [{"key": "a", "operator": "Equal", "value": text, "effect": "NoSchedule"}]},
            },
            "ml-model-service": {"milvus": {"nodeSelector": {"pool": text}, "podAnnotations": {"a": text}}},
            "trainer": {
                "podAnnotations": {"a": text},
                "env": [{"name": "A", "value": text}],
                "fallback": {
                    "after": 2,
                    "nodeSelector": {"pool": text},
                    "tolerations": [{"key": text, "operator": "Exists"}],
                },
            },
            "serving": {
                "podAnnotations": {"a": text},
                "env": [{"name": "A", "value": text}],
                "seldon": {"annotations": {"a": text}},
            },
            "answers": {
                "podAnnotations": {"a": text},
                "env": [{"name": "A", "value": text}],
                "allowedHosts": [text],
                "nodeSelector": {"pool": text},
            },
            "store": {"region": text, "secretName": text},
            "retraining": {
                "schedules": ["0 3 * * 0"],
                "kind": "supervised",
                "job": {"kind": "supervised", "name": text},
            },
            "commonLabels": {"owner": text},
        }

    def test_values_come_out_as_they_went_in(self):
        clean = r.render(values=self.hostile("clean"))
        for number, text in enumerate(HOSTILE):
            with self.subTest(text):
                objects = r.render(values=self.hostile(text), helm=r.HELMS[number % 2])
                self.assertEqual(set(objects), set(clean))
                literal = text.replace("$(", "$$(")  # else Kubernetes would replace it in env and args
                for (kind, step), place in r.step_places(objects).items():
                    self.assertEqual(place[0], {"pool": text}, f"{kind}.{step}")
                    self.assertEqual(place[1][0]["value"], text)
                answers = objects["StatefulSet", "sibyl-answers"]["spec"]["template"]["spec"]
                self.assertEqual(answers["nodeSelector"], {"pool": text})
                self.assertIn({"name": "A", "value": literal}, answers["containers"][0]["env"])
                self.assertIn(literal, answers["containers"][0]["args"])
                self.assertEqual(
                    objects["StatefulSet", "sibyl-milvus"]["spec"]["template"]["metadata"]["annotations"]["a"], text
                )
                self.assertEqual(objects["SeldonDeployment", "sibyl-model-helpdesk"]["spec"]["annotations"]["a"], text)
                self.assertEqual(objects["Service", "sibyl-answers"]["metadata"]["labels"]["owner"], text)

    def test_the_job_of_a_schedule_is_one_json_value(self):
        for number, text in enumerate(HOSTILE):
            objects = r.render(values=self.hostile(text), helm=r.HELMS[number % 2])
            value = objects["CronWorkflow", "sibyl-retraining"]["spec"]["workflowSpec"]["arguments"]["parameters"][0][
                "value"
            ]
            self.assertEqual(json.loads(value.replace("$$(", "$("))["name"], text)

    def test_the_fallback_is_one_expression(self):
        """Argo reads up to the first pair of braces and evaluates two texts, each a patch in JSON."""
        for number, text in enumerate(HOSTILE):
            objects = r.render(values=self.hostile(text), helm=r.HELMS[number % 2])
            steps = objects["WorkflowTemplate", "sibyl-supervised"]["spec"]["templates"]
            patch = next(t for t in steps if t["name"] == "train")["podSpecPatch"]
            self.assertEqual((patch[:3], patch.count("{"), patch.count("}"), patch[-2:]), ("{{=", 2, 2, "}}"))
            moved, first = re.fullmatch(
                r'\{\{=asInt\(retries\) >= 2 \? ("(?:[^"\\]|\\.)*") : ("(?:[^"\\]|\\.)*")\}\}', patch
            ).groups()
            moved, first = json.loads(json.loads(moved)), json.loads(json.loads(first))
            self.assertEqual(first, {"terminationGracePeriodSeconds": 15, **r.ARGO_PATCH})
            self.assertEqual(
                moved,
                {
                    "terminationGracePeriodSeconds": 15,
                    **r.ARGO_PATCH,
                    "nodeSelector": {"$patch": "replace", "pool": text},
                    "tolerations": [{"key": text, "operator": "Exists"}],
                },
                text,
            )

    def test_no_pod_starts_a_shell(self):
        objects = r.render([r.QUESTION_ANSWERING, r.MILVUS], self.hostile("$(id)"))
        for where, pod, _ in r.pod_specs(objects):
            for container in pod["containers"]:
                command = container.get("command")
                self.assertIn(command, ([["sibyl"]] if container["name"] != "milvus" else [None]), where)
                hook = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
                self.assertIn(hook, (None, ["/bin/sleep", "5"]), where)

    def test_long_names_stay_names(self):
        names = ["a" * 64, "a" * 63 + "b", "a.b_c-d", "x" * 30 + "." + "y" * 33]
        values = {"serving": {"kind": "seldon", "models": [{"name": n, "kind": "supervised"} for n in names]}}
        for kind in ("seldon", "kserve", "deployment"):
            values["serving"]["kind"] = kind
            objects = r.render(values=json.loads(json.dumps(values)), release="r" * 53, helm="helm")
            for (what, name), o in objects.items():
                limit = 63 - (len("-predictor-canary") if what in ("SeldonDeployment", "InferenceService") else 0)
                self.assertRegex(name, r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
                self.assertLessEqual(len(name), limit, f"{what} {name}")
                for label, text in o["metadata"]["labels"].items():
                    self.assertRegex(
                        text, r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$", f"{what} {name} {label}"
                    )
            for _, pod, meta in r.pod_specs(objects):
                for container in pod["containers"]:
                    self.assertRegex(container["name"], r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
                for text in meta["labels"].values():
                    self.assertLessEqual(len(text), 63)
            served = {"seldon": "SeldonDeployment", "kserve": "InferenceService", "deployment": "Deployment"}[kind]
            self.assertEqual(len([n for k, n in objects if k == served]), len(names))


if __name__ == "__main__":
    r.main()
