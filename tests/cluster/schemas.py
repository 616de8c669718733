# SPDX-License-Identifier: Apache-2.0
"""Objects against structural schemas (CRDs, OpenAPI): names that a schema does not have, and wrong types. An API server
does the same; this needs none."""

import glob
import os

import cluster
import rendering as r

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def faults(value, schema, path="", definitions=None):
    """[what is wrong, with its path]."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    if "allOf" in schema and "properties" not in schema and "type" not in schema:
        return [x for part in schema["allOf"] for x in faults(value, part, path, definitions)]
    if schema.get("x-kubernetes-int-or-string") or schema.get("oneOf"):
        return (
            []
            if isinstance(value, (int, float, str)) and not isinstance(value, bool)
            else [f"{path}: {value!r} is no amount"]
        )
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [f"{path}: {value!r} is no {kind}"]
    found = (
        [f"{path}: {value!r} is not one of {schema['enum']}"]
        if "enum" in schema and value not in schema["enum"]
        else []
    )
    if isinstance(value, list):
        return found + [
            x for i, v in enumerate(value) for x in faults(v, schema.get("items", {}), f"{path}[{i}]", definitions)
        ]
    if not isinstance(value, dict):
        return found
    found += [f"{path}.{name} is missing" for name in schema.get("required", []) if name not in value]
    known, rest = schema.get("properties", {}), schema.get("additionalProperties")
    for name, part in value.items():
        at = f"{path}.{name}"
        if name in known:
            found += faults(part, known[name], at, definitions)
        elif isinstance(rest, dict):
            found += faults(part, rest, at, definitions)
        elif kind == "object" and rest is not True and not schema.get("x-kubernetes-preserve-unknown-fields") and known:
            found.append(f"{at} is unknown")
    return found


def custom_resources():
    """{(apiVersion, kind): schema of spec} of our own CRDs, and of Argo's full ones where the tools are built."""
    files = glob.glob(os.path.join(cluster.HERE, "crds", "*.yaml")) + glob.glob(
        os.path.join(cluster.DIR, "argo-crds", "full", "argoproj.io_*.yaml")
    )
    found = {}
    for name in files:
        with open(name, encoding="utf-8") as file:
            crd = r.yaml.load(file, Loader=r.BASE)["spec"]
        for version in crd["versions"]:
            schema = version["schema"]["openAPIV3Schema"]["properties"].get("spec", {})
            found[f"{crd['group']}/{version['name']}", crd["names"]["kind"]] = schema
    return found
