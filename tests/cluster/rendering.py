# SPDX-License-Identifier: Apache-2.0
"""What the tests of rendered manifests share: Helm 3 and 4, objects by kind and name, where steps are placed."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import cluster

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not there (Debian package python3-yaml)", file=sys.stderr)
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
CHART = os.environ.get("SIBYL_TEST_CHART") or os.path.join(HERE, "..", "..", "deploy", "chart")
PRESETS = os.path.join(CHART, "presets")
QUESTION_ANSWERING = os.path.join(HERE, "values", "question-answering-gke-gpu.yaml")
MILVUS = os.path.join(HERE, "values", "milvus-gke-gpu.yaml")
HELMS = ("helm", "helm3")


def preset(name):
    return os.path.join(PRESETS, name + ".yaml")


BASE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times as fast


_CONTEXT = {"allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}}
# What every pod of Argo's is patched with, so that it is a restricted one.
ARGO_PATCH = {
    "initContainers": [{"name": "init", "securityContext": _CONTEXT}],
    "containers": [{"name": "wait", "securityContext": _CONTEXT}],
}


class Strict(BASE):
    """As Kubernetes reads it: a key that stands twice is an error."""


def _mapping(loader, node, deep=False):
    seen = set()
    for key, _ in node.value:
        name = loader.construct_object(key, deep=True)
        if name in seen:
            raise yaml.constructor.ConstructorError(None, None, f"key {name!r} stands twice", key.start_mark)
        seen.add(name)
    return BASE.construct_mapping(loader, node, deep)


Strict.add_constructor("tag:yaml.org,2002:map", _mapping)


class Refused(Exception):
    """Helm said no; the text is what it said."""


def run_helm(helm, *arguments):
    # No cluster is asked, whatever the caller's configuration says.
    env = {**os.environ, "KUBECONFIG": os.devnull, "HELM_NAMESPACE": ""}
    done = subprocess.run([helm, *arguments], capture_output=True, text=True, timeout=600, env=env)
    if done.returncode:
        raise Refused(done.stderr.strip() + done.stdout.strip())
    return done.stdout


def values_file(values):
    """A values file of these values, as an operator would write one."""
    handle, path = tempfile.mkstemp(prefix="sibyl-values-", suffix=".yaml")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        yaml.safe_dump(values, file, allow_unicode=True)
    return path


_rendered = {}


def render(files=(), values=None, helm="helm", release="sibyl", namespace="default"):
    """{(kind, name): object} of the chart with these values files, and `values` (a tree) behind them."""
    files = list(files)
    key = json.dumps([files, values, helm, release, namespace], sort_keys=True)
    if key in _rendered:
        return _rendered[key]
    own = values_file(values) if values else None
    try:
        arguments = [a for f in files + ([own] if own else []) for a in ("-f", f)]
        text = run_helm(helm, "template", release, CHART, "--namespace", namespace, *arguments)
    finally:
        if own:
            os.unlink(own)
    objects = {}
    for document in yaml.load_all(text, Loader=Strict):
        if document:
            name = (document["kind"], document["metadata"]["name"])
            if name in objects:
                raise AssertionError(f"{name} is rendered twice")
            objects[name] = document
    _rendered[key] = objects
    return objects


def lint(files=(), helm="helm"):
    return run_helm(helm, "lint", "--strict", CHART, *[a for f in files for a in ("-f", f)])


def notes(files=(), values=None):
    """NOTES.txt; only Helm 4 prints it without a cluster."""
    own = values_file(values) if values else None
    try:
        arguments = [a for f in list(files) + ([own] if own else []) for a in ("-f", f)]
        text = run_helm("helm", "install", "sibyl", CHART, "--dry-run=client", *arguments)
    finally:
        if own:
            os.unlink(own)
    return text.split("\nNOTES:\n", 1)[1]


def of_kind(objects, kind):
    return [o for (k, _), o in sorted(objects.items()) if k == kind]


def job_manifests(objects):
    """{(kind of job, step): Job} out of the ConfigMap for clusters without Argo."""
    data = next(o for o in of_kind(objects, "ConfigMap") if o["metadata"]["name"].endswith("-jobs"))["data"]
    return {tuple(k.split(".")[:2]): json.loads(v) for k, v in data.items() if k.endswith(".json")}


def _place(spec, container):
    return (spec.get("nodeSelector", {}), spec.get("tolerations", []), container.get("resources", {}))


def step_places(objects):
    """{(kind of job, step): (selector, tolerations, resources)} of everything that is rendered."""
    places = {}
    for template in of_kind(objects, "WorkflowTemplate"):
        kind = template["metadata"]["labels"].get("sibyl.dev/kind")
        for step in template["spec"]["templates"]:
            if kind and "container" in step:
                places[kind, step["name"]] = _place(step, step["container"])
    if any(n.endswith("-jobs") for k, n in objects if k == "ConfigMap"):
        for key, job in job_manifests(objects).items():
            pod = job["spec"]["template"]["spec"]
            places[key] = _place(pod, pod["containers"][0])
    return places


def serving_places(objects):
    """{name of the serving object: (selector, tolerations, resources)}, one for each predictor."""
    places = {}
    for o in of_kind(objects, "SeldonDeployment"):
        for predictor in o["spec"]["predictors"]:
            for part in predictor["componentSpecs"]:
                places[o["metadata"]["name"], predictor["name"]] = _place(part["spec"], part["spec"]["containers"][0])
    for o in of_kind(objects, "InferenceService"):
        predictor = o["spec"]["predictor"]
        places[o["metadata"]["name"], "predictor"] = _place(predictor, predictor["containers"][0])
    for o in of_kind(objects, "Deployment"):
        pod = o["spec"]["template"]["spec"]
        places[o["metadata"]["name"], "deployment"] = _place(pod, pod["containers"][0])
    return places


def pod_specs(objects):
    """Every pod that the chart asks for: (where, spec as a pod's, metadata)."""
    for (kind, name), o in sorted(objects.items()):
        if kind == "WorkflowTemplate":
            spec = o["spec"]
            for step in spec["templates"]:
                if "container" in step:
                    pod = {
                        "containers": [{"name": "main", **step["container"]}],
                        "volumes": spec["volumes"],
                        "securityContext": spec["securityContext"],
                        "serviceAccountName": step.get("serviceAccountName", spec["serviceAccountName"]),
                        "automountServiceAccountToken": step.get(
                            "automountServiceAccountToken", spec["automountServiceAccountToken"]
                        ),
                    }
                    yield f"{name}.{step['name']}", pod, step["metadata"]
        elif kind in ("Deployment", "StatefulSet"):
            yield name, o["spec"]["template"]["spec"], o["spec"]["template"]["metadata"]
        elif kind == "SeldonDeployment":
            for predictor in o["spec"]["predictors"]:
                for part in predictor["componentSpecs"]:
                    yield f"{name}.{predictor['name']}", part["spec"], part["metadata"]
        elif kind == "InferenceService":
            predictor = o["spec"]["predictor"]
            yield name, predictor, {k: predictor[k] for k in ("labels", "annotations") if k in predictor}
        elif kind == "ConfigMap" and name.endswith("-jobs"):
            for (job_kind, step), job in job_manifests(objects).items():
                yield f"{job_kind}.{step}", job["spec"]["template"]["spec"], job["spec"]["template"]["metadata"]


def strings(value):
    """Every string in a tree."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from strings(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)
    elif isinstance(value, str):
        yield value


def main():
    missing = [h for h in HELMS if not shutil.which(h, path=os.path.join(cluster.DIR, "bin"))]
    if missing:
        print(f"skipped: {' and '.join(missing)} not there; `tools/setup helm` brings them", file=sys.stderr)
        sys.exit(77)
    result = unittest.main(verbosity=1, exit=False).result
    for test, reason in result.skipped:
        print(f"skipped {test}: {reason}", file=sys.stderr)
    if result.wasSuccessful() and result.testsRun and result.testsRun == len(result.skipped):
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
