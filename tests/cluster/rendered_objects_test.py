#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the rendered objects promise beside placement: steps in order, retries, time limits, who may speak to the API
server, restricted pods, references that lead somewhere, the rules of Seldon's webhook, NOTES, goldens.

    rendered_objects_test.py --update     writes the goldens anew
"""

import json
import os
import re
import sys
import unittest

import rendering as r
from schemas import custom_resources, faults

GOLDENS = os.path.join(r.HERE, "goldens")
STORE = {
    "store": {"uri": "s3://bucket/sibyl", "endpoint": "http://minio:9000", "region": "eu-west-1", "secretName": "s3"}
}
EVERYTHING = {
    **STORE,
    "trainer": {"queue": "gpu-queue", "podLabels": {"team": "search"}},
    "retraining": {
        "schedules": ["0 3 * * 0"],
        "job": {"kind": "supervised", "name": "helpdesk", "data": {"collection": "helpdesk"}},
    },
    "serving": {"canary": {"share": 10}, "autoscaling": {"enabled": True}},
    "answers": {
        "tls": {"secretName": "tls", "caSecretName": "ca"},
        "ingress": {"enabled": True, "host": "answers.example.com"},
    },
}
CASES = {
    "defaults": ([], None),
    "gke-files": ([r.QUESTION_ANSWERING, r.MILVUS], None),
    "gke-spot-everything": ([r.preset("gke-spot")], EVERYTHING),
    "kserve": ([r.preset("aks-spot")], {"serving": {"kind": "kserve", "canary": {"share": 25}}, **STORE}),
    "jobs-and-deployment": (
        [r.preset("k3s")],
        {
            "trainer": {"kind": "job"},
            "serving": {"kind": "deployment", "autoscaling": {"enabled": True}, "canary": {"share": 50}},
        },
    ),
}


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


class Training(unittest.TestCase):
    def template(self, kind="supervised", files=(), values=None):
        return r.render(files, values)["WorkflowTemplate", f"sibyl-{kind}"]["spec"]

    def step(self, name, **options):
        return next(t for t in self.template(**options)["templates"] if t["name"] == name)

    def test_steps_follow_one_another(self):
        for kind, steps in (
            ("supervised", "prepare train evaluate publish deploy"),
            ("coldstart", "prepare train evaluate publish deploy"),
            ("evaluation", "prepare evaluate"),
        ):
            spec = self.template(kind)
            tasks = next(t for t in spec["templates"] if t["name"] == spec["entrypoint"])["dag"]["tasks"]
            self.assertEqual([t["name"] for t in tasks], steps.split())
            self.assertEqual([t.get("depends") for t in tasks], [None, *steps.split()[:-1]])
        for serving in ({"kind": "none"}, {"models": []}):
            tasks = self.template(values={"serving": serving})["templates"][0]["dag"]["tasks"]
            self.assertEqual([t["name"] for t in tasks][-1], "publish")

    def test_what_the_pods_run(self):
        for name in ("prepare", "train", "evaluate", "publish", "deploy"):
            for values, workspace in (
                (None, "/workspace/{{workflow.name}}"),
                (STORE, "s3://bucket/sibyl/runs/{{workflow.name}}"),
            ):
                c = self.step(name, values=values)["container"]
                self.assertEqual(c["command"], ["sibyl"])
                expected = ["step", name, "--workspace", workspace]
                if name in ("prepare", "publish", "deploy"):
                    expected += ["--server", "http://sibyl-answers.default.svc:8080"]
                self.assertEqual(c["args"], expected)

    def test_a_gpu_decides_the_trainers_image(self):
        self.assertEqual(self.step("train")["container"]["image"], "sibyl-trainer:0.1.0-cpu")
        self.assertEqual(
            self.step("train", files=[r.preset("eks")])["container"]["image"], "sibyl-trainer:0.1.0-cuda13"
        )
        values = {"images": {"registry": "example.com/team/", "trainer": {"variant": "cuda12"}}}
        self.assertEqual(
            self.step("train", values=values)["container"]["image"], "example.com/team/sibyl-trainer:0.1.0-cuda12"
        )
        self.assertEqual(self.step("prepare", values=values)["container"]["image"], "example.com/team/sibyl:0.1.0")
        pinned = {"images": {"trainer": {"digest": "sha256:" + "0" * 64}}}
        self.assertEqual(self.step("train", values=pinned)["container"]["image"], "sibyl-trainer@sha256:" + "0" * 64)

    def test_every_wait_has_an_end(self):
        for kind in ("supervised", "coldstart", "evaluation"):
            for step in self.template(kind)["templates"]:
                if "container" in step:
                    self.assertRegex(step["timeout"], r"^[1-9][0-9]*m$")
                    self.assertRegex(step["retryStrategy"]["limit"], r"^[1-9][0-9]*$")
                    self.assertNotIn(
                        "maxDuration", step["retryStrategy"]["backoff"], "it would replace the pod's deadline"
                    )
        for template in r.of_kind(r.render(), "WorkflowTemplate"):
            self.assertGreater(
                template["spec"]["activeDeadlineSeconds"], 0, "a pod that waits for a node ends by nothing else"
            )
        spec = self.template()
        self.assertEqual(spec["activeDeadlineSeconds"], 1800 * 60)
        self.assertEqual(spec["ttlStrategy"], {"secondsAfterSuccess": 86400, "secondsAfterFailure": 604800})
        self.assertEqual(spec["podGC"], {"strategy": "OnPodSuccess"})

    def test_a_schedule_has_the_steps_in_itself(self):
        """Argo's controller would look for a template that Helm makes after the schedule, and again 20 minutes later."""
        for kind in ("supervised", "coldstart"):
            job = {"kind": kind, "name": "helpdesk", "data": {"collection": "faq"}}
            objects = r.render(values={"retraining": {"kind": kind, "schedules": ["0 3 * * 0"], "job": job}})
            schedule = objects["CronWorkflow", "sibyl-retraining"]["spec"]
            spec, template = schedule["workflowSpec"], objects["WorkflowTemplate", f"sibyl-{kind}"]["spec"]
            (parameter,) = spec["arguments"]["parameters"]
            self.assertEqual(json.loads(parameter["value"]), job)
            parameter["value"] = ""
            self.assertEqual(spec, template)
            labels = schedule["workflowMetadata"]["labels"]
            self.assertEqual((labels["app.kubernetes.io/instance"], labels["sibyl.dev/kind"]), ("sibyl", kind))

    def test_lost_nodes_are_tried_again_and_bugs_are_not(self):
        """The expression, with each end of a pod that Kubernetes and Argo report."""
        expression = " ".join(self.step("train")["retryStrategy"]["expression"].split())
        message = re.search(r'lastRetry\.message matches "([^"]*)"', expression).group(1)
        self.assertEqual(
            expression,
            'lastRetry.status == "Error" or lastRetry.message matches "'
            + message
            + '" or asInt(lastRetry.exitCode) == 75',
        )
        self.assertEqual(self.step("train")["retryStrategy"]["retryPolicy"], "Always")

        def again(status, text, code):
            return status == "Error" or bool(re.search(message, text)) or code == 75

        for status, text, code, expected in (
            ("Failed", "Pod was terminated in response to imminent node shutdown.", -1, True),
            ("Error", "pod deleted", -1, True),
            ("Failed", "Evicted: node was low on memory", 137, True),
            ("Failed", "Preempted in order to admit critical pod", -1, True),
            ("Failed", "node was lost", -1, True),
            ("Failed", "main: Error (exit code 75)", 75, True),
            ("Failed", "main: Error (exit code 65)", 65, False),
            ("Failed", "OOMKilled (exit code 137)", 137, False),
            ("Failed", "main: Error (exit code 70)", 70, False),
            ("Failed", "Step exceeded its deadline", -1, False),
        ):
            self.assertEqual(again(status, text, code), expected, text)

    def test_grace_and_runtime_class(self):
        plain = {"terminationGracePeriodSeconds": 15, **r.ARGO_PATCH}
        self.assertEqual(json.loads(self.step("prepare")["podSpecPatch"]), plain)
        k3s = [r.preset("k3s")]
        self.assertEqual(
            json.loads(self.step("train", files=k3s)["podSpecPatch"]), {**plain, "runtimeClassName": "nvidia"}
        )
        self.assertEqual(json.loads(self.step("prepare", files=k3s)["podSpecPatch"]), plain)

    def test_a_running_step_is_not_evicted_to_empty_its_node(self):
        for where, _, meta in r.pod_specs(r.render()):
            if where.split(".")[0].endswith(("supervised", "coldstart", "evaluation")):
                self.assertEqual(meta["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"], "false", where)

    def test_labels_are_passed_through(self):
        meta = self.step("train", values=EVERYTHING)["metadata"]["labels"]
        self.assertEqual((meta["kueue.x-k8s.io/queue-name"], meta["team"]), ("gpu-queue", "search"))
        job = r.job_manifests(
            r.render(values={**EVERYTHING, "retraining": {}, "trainer": {"kind": "job", "queue": "q"}})
        )["supervised", "train"]
        self.assertEqual(job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "q")

    def test_plain_jobs(self):
        objects = r.render([r.QUESTION_ANSWERING], {"trainer": {"kind": "job"}})
        jobs = r.job_manifests(objects)
        data = objects["ConfigMap", "sibyl-jobs"]["data"]
        self.assertEqual(data["supervised.steps"], "prepare train evaluate publish deploy")
        self.assertEqual(data["evaluation.steps"], "prepare evaluate")
        self.assertEqual(len(jobs), 12)
        for (_, step), job in jobs.items():
            spec = job["spec"]
            self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
            self.assertEqual(spec["template"]["spec"]["restartPolicy"], "Never")
            self.assertEqual(spec["podReplacementPolicy"], "Failed")
            self.assertGreater(spec["activeDeadlineSeconds"], 0)
            rules = spec["podFailurePolicy"]["rules"]
            self.assertEqual([x["action"] for x in rules], ["Ignore", "Count", "FailJob"])
            self.assertEqual(rules[0]["onPodConditions"], [{"type": "DisruptionTarget", "status": "True"}])
            self.assertIn(75, rules[1]["onExitCodes"]["values"])
            container = spec["template"]["spec"]["containers"][0]
            self.assertEqual(container["args"][:4], ["step", step, "--workspace", "/workspace/$(SIBYL_RUN)"])
            names = [e["name"] for e in container["env"]]
            self.assertEqual((names.count("SIBYL_RUN"), names.count("SIBYL_JOB")), (1, 1 if step == "prepare" else 0))


class Serving(unittest.TestCase):
    def test_rules_of_seldons_webhook(self):
        for files, values in (*CASES.values(), ([], {"serving": {"protocol": "v2"}})):
            for o in r.of_kind(r.render(files, values), "SeldonDeployment"):
                spec = o["spec"]
                self.assertIn(spec["protocol"], ("seldon", "v2"))
                names = [p["name"] for p in spec["predictors"]]
                self.assertEqual(len(names), len(set(names)))
                if len(names) > 1:
                    self.assertEqual(sum(p["traffic"] for p in spec["predictors"]), 100)
                else:
                    self.assertIn(spec["predictors"][0].get("traffic", 100), (100,))
                for p in spec["predictors"]:
                    containers = [c["name"] for part in p["componentSpecs"] for c in part["spec"]["containers"]]
                    self.assertIn(p["graph"]["name"], containers)
                    self.assertNotIn("implementation", p["graph"])
                    self.assertFalse("replicas" in p and "hpaSpec" in p["componentSpecs"][0])

    def test_seldons_traps_are_closed(self):
        pod = r.render()["SeldonDeployment", "sibyl-model-helpdesk"]["spec"]["predictors"][0]["componentSpecs"][0][
            "spec"
        ]
        container = pod["containers"][0]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertIn("httpGet", container[probe])
        self.assertIn("preStop", container["lifecycle"], "else Seldon starts a shell")
        self.assertIn("runAsUser", pod["securityContext"], "else Seldon sets its own")
        self.assertEqual(
            {p["name"]: p["containerPort"] for p in container["ports"]}, {"http": 9000, "grpc": 9500, "metrics": 6000}
        )
        self.assertEqual(
            container["args"],
            [
                "serve",
                "--role",
                "models",
                "--model",
                "helpdesk=http://sibyl-answers.default.svc:8080/v1/models/helpdesk/current",
            ],
        )

    def test_the_version_is_never_rendered(self):
        for files, values in CASES.values():
            objects = r.render(files, values)
            for text in r.strings({f"{k}/{n}": o for (k, n), o in objects.items()}):
                self.assertNotIn("sibyl.dev/model-version", text)
            for where, pod, _ in r.pod_specs(objects):
                for argument in (a for c in pod["containers"] for a in c.get("args", []) if "/models/" in a):
                    self.assertRegex(argument, r"/models/[^/]+/(current|candidate)$", where)

    def test_a_canary_reads_the_candidate(self):
        predictors = r.render(values={**STORE, "serving": {"canary": {"share": 10, "replicas": 2}}})[
            "SeldonDeployment", "sibyl-model-helpdesk"
        ]["spec"]["predictors"]
        self.assertEqual(
            [(p["name"], p["traffic"], p["replicas"]) for p in predictors], [("default", 90, 1), ("canary", 10, 2)]
        )
        models = [p["componentSpecs"][0]["spec"]["containers"][0]["args"][-1] for p in predictors]
        self.assertEqual(
            models,
            [
                "helpdesk=s3://bucket/sibyl/models/helpdesk/current",
                "helpdesk=s3://bucket/sibyl/models/helpdesk/candidate",
            ],
        )

    def test_deploy_is_pointed_at_what_is_rendered(self):
        for serving, kind in (
            ("seldon", "SeldonDeployment"),
            ("kserve", "InferenceService"),
            ("deployment", "Deployment"),
        ):
            objects = r.render(values={"serving": {"kind": serving}})
            step = next(
                t for t in objects["WorkflowTemplate", "sibyl-coldstart"]["spec"]["templates"] if t["name"] == "deploy"
            )
            env = {e["name"]: e.get("value") for e in step["container"]["env"]}
            targets = json.loads(env["SIBYL_DEPLOY_TARGETS"])
            self.assertEqual(env["SIBYL_DEPLOY_KIND"], serving)
            self.assertIn((kind, targets["helpdesk"]), objects)
            rule = objects["Role", "sibyl-deploy"]["rules"]
            self.assertEqual(len(rule), 1)
            self.assertEqual((rule[0]["resourceNames"], rule[0]["verbs"]), ([targets["helpdesk"]], ["get", "patch"]))

    def test_the_answer_server_calls_the_model(self):
        for serving, url in (
            ("seldon", "seldon+http://sibyl-model-helpdesk-default.default.svc:8000"),
            ("kserve", "v2+http://sibyl-model-helpdesk-predictor.default.svc"),
            ("deployment", "v2+http://sibyl-model-helpdesk.default.svc:8080"),
        ):
            args = r.render(values={"serving": {"kind": serving}})["StatefulSet", "sibyl-answers"]["spec"]["template"][
                "spec"
            ]["containers"][0]["args"]
            self.assertEqual(args[args.index("--encoder") + 1], "helpdesk=" + url)


class Security(unittest.TestCase):
    def test_pods_are_restricted(self):
        for name, (files, values) in CASES.items():
            for where, pod, _ in r.pod_specs(r.render(files, values)):
                context = pod["securityContext"]
                self.assertTrue(context["runAsNonRoot"] and context["runAsUser"] > 0, f"{name}: {where}")
                self.assertEqual(context["seccompProfile"], {"type": "RuntimeDefault"})
                for c in pod["containers"]:
                    own = c["securityContext"]
                    self.assertEqual(
                        (own["allowPrivilegeEscalation"], own["capabilities"]), (False, {"drop": ["ALL"]}), where
                    )
                    self.assertTrue(own.get("readOnlyRootFilesystem") or c["name"] == "milvus", where)
                for volume in pod["volumes"]:
                    self.assertNotIn("hostPath", volume)

    def test_only_deploy_speaks_to_the_api_server(self):
        for name, (files, values) in CASES.items():
            objects = r.render(files, values)
            for where, pod, _ in r.pod_specs(objects):
                speaks = where.endswith((".deploy", ".point"))
                self.assertEqual(pod.get("automountServiceAccountToken"), speaks, f"{name}: {where}")
                if "serviceAccountName" in pod:
                    self.assertIn(("ServiceAccount", pod["serviceAccountName"]), objects)
            for account in r.of_kind(objects, "ServiceAccount"):
                self.assertEqual(account["automountServiceAccountToken"], account["metadata"]["name"] == "sibyl-deploy")
            for role in r.of_kind(objects, "Role"):
                for rule in role["rules"]:
                    self.assertNotIn("*", rule["verbs"] + rule["resources"] + rule["apiGroups"])
            self.assertFalse([k for k, _ in objects if k.startswith("Cluster")])

    def test_argos_container_reports_with_a_token_of_its_own(self):
        objects = r.render()
        account = objects["ServiceAccount", "sibyl-executor"]["metadata"]["annotations"]
        token = account["workflows.argoproj.io/service-account-token.name"]
        secret = objects["Secret", token]
        self.assertEqual(secret["type"], "kubernetes.io/service-account-token")
        self.assertEqual(secret["metadata"]["annotations"], {"kubernetes.io/service-account.name": "sibyl-executor"})
        (rule,) = objects["Role", "sibyl-executor"]["rules"]
        wanted = {"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]}
        self.assertEqual(rule, wanted)
        for (kind, name), o in objects.items():
            if kind == "WorkflowTemplate":
                self.assertEqual(o["spec"]["executor"], {"serviceAccountName": "sibyl-executor"}, name)
            if kind == "RoleBinding":
                self.assertEqual(o["roleRef"]["name"], name)
                self.assertEqual([x["name"] for x in o["subjects"]], [name])

    def test_secrets_are_named_and_not_held(self):
        objects = r.render(values=EVERYTHING)
        for secret in r.of_kind(objects, "Secret"):
            self.assertEqual(set(secret) & {"data", "stringData"}, set())
        env = {
            e["name"]: e
            for t in objects["WorkflowTemplate", "sibyl-supervised"]["spec"]["templates"]
            if t["name"] == "publish"
            for e in t["container"]["env"]
        }
        self.assertEqual(
            env["AWS_SECRET_ACCESS_KEY"]["valueFrom"], {"secretKeyRef": {"name": "s3", "key": "AWS_SECRET_ACCESS_KEY"}}
        )
        self.assertEqual(env["SIBYL_API_KEY"]["valueFrom"], {"secretKeyRef": {"name": "sibyl-api-keys", "key": "key"}})

    def test_policies_select_our_pods(self):
        objects = r.render([r.MILVUS])
        labels = [meta["labels"] for _, _, meta in r.pod_specs(objects)]
        policies = r.of_kind(objects, "NetworkPolicy")
        self.assertEqual(len(policies), 4)
        for policy in policies:
            wanted = policy["spec"]["podSelector"]["matchLabels"]
            self.assertTrue(any(wanted.items() <= have.items() for have in labels), policy["metadata"]["name"])
        self.assertNotIn("ingress", objects["NetworkPolicy", "sibyl-step"]["spec"])

    def test_mounts_have_volumes(self):
        for name, (files, values) in CASES.items():
            objects = r.render(files, values)
            for where, pod, _ in r.pod_specs(objects):
                have = {v["name"] for v in pod["volumes"]}
                owner = objects.get(("StatefulSet", where))
                have |= (
                    {c["metadata"]["name"] for c in owner["spec"].get("volumeClaimTemplates", [])} if owner else set()
                )
                used = {m["name"] for c in pod["containers"] for m in c["volumeMounts"]}
                self.assertLessEqual(used, have, f"{name}: {where}")

    def test_selectors_find_their_pods(self):
        for name, (files, values) in CASES.items():
            objects = r.render(files, values)
            pods = [meta["labels"] for _, _, meta in r.pod_specs(objects)]
            for service in r.of_kind(objects, "Service"):
                wanted = service["spec"]["selector"]
                self.assertTrue(
                    any(wanted.items() <= have.items() for have in pods), f"{name}: {service['metadata']['name']}"
                )


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
