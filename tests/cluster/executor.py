# SPDX-License-Identifier: Apache-2.0
"""Runs a rendered WorkflowTemplate with the real programs on this machine: the same steps, arguments, environment,
order and retries as in a cluster; only paths and addresses of the cluster are replaced."""

import json
import os
import re
import signal
import subprocess
import time

PROGRAM = os.environ.get("SIBYL_PROGRAM", "build/release/sibyl")


def literal(text):
    """What Kubernetes makes of a value in args and env."""
    return text.replace("$$(", "$(")


def program_of(container):
    if container["command"] != ["sibyl"]:
        raise AssertionError(f"unknown command {container['command']}")
    return [PROGRAM]


class Workflow:
    """`replace`: what stands for the cluster's paths and addresses; `secrets`: {(secret, key): value}."""

    def __init__(self, template, name, replace, secrets, log):
        self.spec, self.name, self.replaced, self.secrets, self.log = template["spec"], name, replace, secrets, log
        self.steps = {t["name"]: t for t in self.spec["templates"]}
        self.parameters = {p["name"]: p.get("value", "") for p in self.spec["arguments"]["parameters"]}

    def text(self, value):
        value = literal(value).replace("{{workflow.name}}", self.name)
        value = re.sub(r"\{\{workflow\.parameters\.([\w-]+)\}\}", lambda m: self.parameters[m.group(1)], value)
        for old, new in self.replaced.items():
            value = value.replace(old, new)
        return value

    def environment(self, container):
        env = dict(os.environ)
        for entry in container["env"]:
            if "valueFrom" in entry:
                ref = entry["valueFrom"]["secretKeyRef"]
                env[entry["name"]] = self.secrets[ref["name"], ref["key"]]
            elif entry["name"] not in ("HOME", "TMPDIR"):
                env[entry["name"]] = self.text(entry["value"])
        return env

    def order(self):
        tasks = self.steps[self.spec["entrypoint"]]["dag"]["tasks"]
        done, left = [], list(tasks)
        while left:
            ready = [t for t in left if t.get("depends") in (None, *done)]
            if not ready:
                raise AssertionError(f"nothing is ready: {left}")
            done += [t["name"] for t in ready]
            left = [t for t in left if t not in ready]
        return done

    def attempt(self, step, interrupt_when=None):
        """One pod: its exit code. SIGTERM is sent as soon as `interrupt_when` says so, and 15 s later SIGKILL."""
        container = self.steps[step]["container"]
        command = program_of(container) + [self.text(a) for a in container["args"]]
        with open(self.log, "ab") as log:
            process = subprocess.Popen(command, env=self.environment(container), stdout=log, stderr=log)
            try:
                if interrupt_when:
                    while process.poll() is None and not interrupt_when():
                        time.sleep(0.05)
                    grace = json.loads(self.steps[step]["podSpecPatch"])["terminationGracePeriodSeconds"]
                    process.send_signal(signal.SIGTERM)
                    return process.wait(grace)
                return process.wait(600)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()

    def run(self, interrupt=None, last=None):
        """[(step, exit code)] of every attempt, to `last` or the first failure; `interrupt`: {step: when}, once."""
        attempts, interrupt = [], dict(interrupt or {})
        order = self.order()
        for step in order[: order.index(last) + 1 if last else None]:
            for _ in range(int(self.steps[step]["retryStrategy"]["limit"]) + 1):
                code = self.attempt(step, interrupt.pop(step, None))
                attempts.append((step, code))
                if code != 75:  # of the rule in the retry's expression, what a process can show
                    break
            if attempts[-1][1] != 0:
                break
        return attempts
