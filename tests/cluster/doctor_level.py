# SPDX-License-Identifier: Apache-2.0
"""`sibyl cluster doctor` against a real API server: what is missing, where steps would run, what holds a GPU node."""

import json

import cluster as c
import rendering as r
from commands_level import Commands

RESTRICTED_POD = {
    "securityContext": {"runAsNonRoot": True, "runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {
            "name": "main",
            "image": "example.invalid/left-over",
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
    ],
}


class Doctor(Commands):
    def findings(self, **options):
        report = json.loads(self.cluster("doctor", **options).stdout)
        self.assertEqual(report["ready"], options.get("expect", 0) == 0)
        return [(f["state"], f["what"], f["text"]) for f in report["findings"]]

    def tolerating(self):
        """The operators' values, and the label and the taint of this test's nodes: `doctor` reads the chart's placement,
        and cannot know what the API server adds to pods."""
        with open(r.QUESTION_ANSWERING, encoding="utf-8") as file:
            tree = r.yaml.safe_load(file)
        for field, add in (
            ("nodeSelector", lambda entry: entry.update({c.pools.APART: c.key()})),
            ("tolerations", lambda entry: entry.append({"key": c.pools.APART, "operator": "Exists"})),
        ):
            kinds = tree["question-answering"][field]
            for entry in [kinds["default"], *(kind["seldon"] for name, kind in kinds.items() if name != "default")]:
                add(entry)
        return self.write("tolerating.yaml", json.dumps(tree))

    def test_doctor(self):
        self.assertIn("missing", [s for s, what, _ in self.findings(expect=69) if what == "release"])
        self.install(operators=self.tolerating())
        found = self.findings(expect=69)
        self.assertTrue(any(s == "missing" and "sibyl-api-keys" in t for s, w, t in found if w == "secrets"), found)
        c.secret(self.space)
        found = self.findings()
        for one in (
            ("ok", "kinds", "Argo Workflows (trainer.kind: argo): installed"),
            ("ok", "kinds", "Seldon Core 1.17.1 (serving.kind: seldon): installed"),
            ("ok", "supervised train", f"runs on {c.gpu()} (1 GPU)"),
            ("ok", "supervised prepare", f"runs on {c.gpu()}"),
            ("ok", "gpu nodes", f"{c.gpu()} may scale down"),
        ):
            self.assertIn(one, found)
        # What holds the node, by pod; the same as the autoscaler's rules say.
        spec = {"nodeName": c.gpu(), **RESTRICTED_POD}
        c.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "left-over"}, "spec": spec}, self.space)
        c.wait("the pod", lambda: c.get("pod", "left-over", self.space)["status"].get("phase") == "Running")
        held = [t for _, w, t in self.findings() if w == "gpu nodes"]
        self.assertTrue(any(f"{self.space}/left-over" in t and "no controller" in t for t in held), held)
        self.assertFalse(c.scaledown(c.gpu())[0])
        # A taint that nothing of ours tolerates.
        taints = c.get("node", c.gpu())["spec"]["taints"] + [{"key": "team", "value": "x", "effect": "NoSchedule"}]
        c.patch("node", c.gpu(), None, {"spec": {"taints": taints}})
        found = self.findings(expect=69)
        self.assertTrue(any(s == "missing" and "team=x:NoSchedule" in t for s, w, t in found), found)
