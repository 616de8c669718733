#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What serves, and who may do what: Seldon's rules, versions, restricted pods, rights, references that lead somewhere."""

import json
import unittest

import rendering as r
from cases import CASES, EVERYTHING, STORE


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


if __name__ == "__main__":
    r.main()
