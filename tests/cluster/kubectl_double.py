#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kubectl as `sibyl cluster` calls it, over a folder instead of a cluster ($KUBECTL_DOUBLE): state.json holds the
objects, calls.jsonl every call. A Job is Complete when it is looked at the second time, or Failed where `fail` in
state.json names it; `hang` there, a verb, never ends; pods that are made are Ready at once, and `exec` works on files below fs/."""

import hashlib
import json
import os
import sys
import time

FOLDER = os.environ["KUBECTL_DOUBLE"]
PLURALS = {
    "configmaps": "ConfigMap", "workflowtemplates.argoproj.io": "WorkflowTemplate",
    "workflows.argoproj.io": "Workflow", "jobs.batch": "Job", "pods": "Pod", "pod": "Pod", "nodes": "Node",
    "poddisruptionbudgets": "PodDisruptionBudget", "secret": "Secret", "resourcequotas": "ResourceQuota",
    "persistentvolumeclaims": "PersistentVolumeClaim",
}


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def labels_match(obj, selector):
    labels = obj["metadata"].get("labels", {})
    return all(labels.get(k) == v for k, v in (part.split("=", 1) for part in selector.split(",") if part))


def settle(job, state):
    """What the Job's controller would have done since the last look."""
    looks = job.setdefault("looks", 0)
    job["looks"] = looks + 1
    if looks:
        bad = job["metadata"]["name"] in state.get("fail", [])
        job["status"] = {"conditions": [{"type": "Failed" if bad else "Complete", "status": "True",
                                         "reason": "PodFailurePolicy" if bad else "Completed", "message": "exit 65"}]}


def get(words, flags, state):
    kinds = [PLURALS.get(w) for w in words[0].split(",")]
    if None in kinds or any(k in state.get("absent", []) for k in kinds):
        fail(f"error: the server doesn't have a resource type \"{words[0]}\"")
    if any(k in state.get("forbidden", []) for k in kinds):
        fail(f'Error from server (Forbidden): {words[0]} is forbidden: User "x" cannot list')
    found = [o for o in state["objects"] if o["kind"] in kinds and labels_match(o, flags.get("--selector", ""))]
    if len(words) > 1:
        found = [o for o in found if o["metadata"]["name"] == words[1]]
        if not found:
            fail(f'Error from server (NotFound): {words[0]} "{words[1]}" not found')
    for job in (o for o in found if o["kind"] == "Job"):
        settle(job, state)
    if flags.get("--output") == "name":
        print("\n".join(f"{words[0]}/{o['metadata']['name']}" for o in found))
    else:
        print(json.dumps(found[0] if len(words) > 1 else {"kind": "List", "items": found}))


def execute(command):
    def local(path):
        return os.path.join(FOLDER, "fs", path.lstrip("/"))

    if command[0] == "mkdir":
        os.makedirs(local(command[-1]), exist_ok=True)
    elif command[0] == "dd":
        with open(local(command[-1].removeprefix("of=")), "wb") as file:
            file.write(sys.stdin.buffer.read())
    elif command[0] == "sha256sum":
        if not os.path.exists(local(command[1])):
            fail(f"sha256sum: {command[1]}: No such file or directory")
        with open(local(command[1]), "rb") as file:
            print(hashlib.sha256(file.read()).hexdigest(), "", command[1])
    else:
        fail(f"unknown command {command}")


def main():
    with open(os.path.join(FOLDER, "calls.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(sys.argv[1:]) + "\n")
    path = os.path.join(FOLDER, "state.json")
    with open(path, encoding="utf-8") as file:
        state = json.load(file)
    command = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    flags = dict((a.split("=", 1) + [""])[:2] for a in own if a.startswith("--"))
    words = [a for a in own if not a.startswith("-")]
    verb = words.pop(0)
    if verb == state.get("hang"):
        time.sleep(50)
    if verb == "version":
        print(json.dumps({"serverVersion": {"minor": "37", "gitVersion": "v1.37.2"}}))
    elif verb == "api-resources":
        print("\n".join(k for k, v in PLURALS.items() if "." in k and v not in state.get("absent", [])))
    elif verb == "get":
        get(words, flags, state)
    elif verb == "create":
        obj = json.load(sys.stdin)
        with open(os.path.join(FOLDER, "created.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(obj) + "\n")
        same = [o for o in state["objects"] if (o["kind"], o["metadata"]["name"]) == (obj["kind"], obj["metadata"]["name"])]
        if same:
            fail(f'Error from server (AlreadyExists): "{obj["metadata"]["name"]}" already exists')
        state["objects"].append(obj)
    elif verb == "delete":
        kind = PLURALS[words[0]]
        state["objects"] = [o for o in state["objects"] if (o["kind"], o["metadata"]["name"]) != (kind, words[1])]
        state["fail"] = [n for n in state.get("fail", []) if n != words[1]]
    elif verb == "exec":
        execute(command)
    elif verb == "logs":
        print(f"what {words[0]} printed")
    elif verb != "wait":
        fail(f"unknown verb {verb}")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(state, file)


main()
