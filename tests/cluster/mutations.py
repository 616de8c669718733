#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Can the tests of the chart fail? Breaks the chart (or a copy of the program) in one place at a time and runs the
tests that should see it: mutations.py [NUMBER…] [--rendered|--live]

Prints for each break which tests failed, in the rendered level and on the control plane, and ends with 1 where none
did. --rendered and --live leave the other level out. About a quarter of an hour; not a part of ./test.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

import live_test

HERE = os.path.dirname(os.path.abspath(__file__))
CHART = os.path.join(HERE, "..", "..", "deploy", "chart")
SIBYL = os.environ.get("SIBYL_PROGRAM") or os.path.join(HERE, "..", "..", "build", "release", "sibyl")
RENDERED = tuple("rendered_" + name for name in ("placement", "refusal", "objects", "training", "serving"))
FLOW, SERVING, ACCESS = "templates/_workflow.tpl", "templates/_serving.tpl", "templates/access.yaml"
PROGRAM = None
PLACED = '{{- include "sibyl.placed" $place | nindent 4 }}'
OUTLIVES = "Deploy.test_the_version_outlives_helm_with_seldon"
THROUGH = "Argo.test_it_runs_through_and_the_gpu_node_goes"
SHUTS_DOWN = "Argo.test_a_node_that_shuts_down"
ACCEPTED = "Api.test_every_object_is_accepted_and_loses_nothing"
FILES = "Scheduler.test_the_operators_files"
FULL = "Scheduler.test_a_full_cpu_pool_does_not_push_the_model_to_the_gpu"
NO_TOKEN = "Argo.test_programs_hold_no_token"

# (what is broken, in which file, text, text instead, the live tests that should see it)
MUTATIONS = (
    ("train has no placement", FLOW, PLACED, '{{- if ne $step "train" }}' + PLACED + "{{- end }}", [THROUGH, FILES]),
    (
        "placement stands on the workflow",
        FLOW,
        "entrypoint: run\n",
        'entrypoint: run\n{{- include "sibyl.placed" (include "sibyl.placement" '
        '(dict "root" $root "kind" .kind "step" "train") | fromJson) | nindent 0 }}\n',
        [SHUTS_DOWN],
    ),
    (
        "evaluate asks for the GPU",
        FLOW,
        '(dict "root" $root "kind" $.kind "step" $step) | fromJson }}\n  - name',
        '(dict "root" $root "kind" $.kind "step" (ternary "train" $step (eq $step "evaluate"))) | fromJson }}\n  - name',
        [FILES],
    ),
    ("lost nodes are not tried again", FLOW, "retryPolicy: Always", "retryPolicy: OnError", [SHUTS_DOWN]),
    ("interrupted trainings are not tried again", FLOW, "exitCode) == 75", "exitCode) == 76", [SHUTS_DOWN]),
    (
        "bugs are tried again",
        FLOW,
        "exitCode) == 75",
        "exitCode) >= 1",
        ["Argo.test_a_failing_program_is_not_repeated"],
    ),
    (
        "vanished nodes are not tried again",
        FLOW,
        'lastRetry.status == "Error"\n        or lastRetry.message matches "imminent node shutdown|pod deleted|',
        'lastRetry.message matches "imminent node shutdown|',
        ["Pauses.test_a_node_that_vanishes"],
    ),
    ("finished pods stay", FLOW, "podGC: {strategy: {{ $root.Values.trainer.podGC }}}\n", "", [THROUGH]),
    (
        "finished runs stay",
        FLOW,
        "  secondsAfterSuccess: {{ int64 $root.Values.trainer.ttlSeconds.success }}\n",
        "",
        ["Argo.test_evaluation_is_two_steps"],
    ),
    (
        "a run has no end",
        FLOW,
        "activeDeadlineSeconds: {{ mul 60 (int $root.Values.trainer.timeoutMinutes.run) }}\n",
        "",
        ["Pauses.test_a_node_that_never_comes_ends_the_run"],
    ),
    # No live test sees this one: the account says no as well, and that is enough.
    (
        "the workflow leaves tokens to the account",
        FLOW,
        "automountServiceAccountToken: false",
        "automountServiceAccountToken: true",
        [],
    ),
    ("deploy holds no token", FLOW, "    automountServiceAccountToken: true\n", "", [NO_TOKEN]),
    (
        "Argo's containers are not restricted",
        "templates/_steps.tpl",
        '{{- toJson (merge (include "sibyl.podPatch" . | fromJson) $argo) -}}',
        '{{- include "sibyl.podPatch" . -}}',
        [NO_TOKEN],
    ),
    (
        "the fallback keeps the label of spot nodes",
        "templates/_steps.tpl",
        '{{- $selector := dict "$patch" "replace" -}}',
        "{{- $selector := dict -}}",
        ["Argo.test_it_falls_back_to_another_pool"],
    ),
    (
        "programs get more time than a GKE node has",
        "templates/_steps.tpl",
        "(int64 .root.Values.trainer.terminationGracePeriodSeconds)",
        "300",
        [THROUGH],
    ),
    (
        "the executor's token is not named",
        ACCESS,
        "workflows.argoproj.io/service-account-token.name: {{ $name }}-executor-token",
        "a: b",
        [NO_TOKEN],
    ),
    ("the executor may not report", ACCESS, "verbs: [create, patch]", "verbs: [patch]", ["Api.test_who_may_do_what"]),
    ("deploy may not change its object", ACCESS, "verbs: [get, patch]", "verbs: [get]", [OUTLIVES]),
    (
        "deploy may change every object",
        ACCESS,
        'resourceNames: {{- include "sibyl.deployTargets" . | fromJson | values | sortAlpha | toYaml | nindent 6 }}\n',
        "\n",
        ["Api.test_who_may_do_what", "Deploy.test_what_is_not_ours_is_refused_and_nothing_is_made"],
    ),
    (
        "deploy is pointed at another object",
        "templates/_steps.tpl",
        "(ternary (printf \"%s-canary\" $object) $object $canary)",
        '(printf "%s-x" $object)',
        [OUTLIVES],
    ),
    (
        "the model tolerates GPU nodes",
        SERVING,
        '{{- include "sibyl.placed" .place }}',
        '{{- include "sibyl.placed" (merge (dict "tolerations" (list (dict "key" "nvidia.com/gpu" '
        '"operator" "Exists"))) .place) }}',
        [FULL],
    ),
    (
        "the model has no selector",
        SERVING,
        '{{- include "sibyl.placed" .place }}',
        '{{- include "sibyl.placed" (omit .place "nodeSelector") }}',
        [FULL, "Scheduler.test_without_the_cpu_pool_the_model_waits"],
    ),
    (
        "the chart says which version runs",
        SERVING,
        '.root.Values.serving.podAnnotations (dict "cluster',
        '.root.Values.serving.podAnnotations (dict "sibyl.dev/model-version" "1" "cluster',
        ["Deploy.test_the_version_outlives_helm_with_deployment", "Deploy.test_the_version_outlives_helm_with_kserve"],
    ),
    (
        "Milvus has no placement",
        "templates/milvus.yaml",
        '{{- include "sibyl.placed" $m | nindent 6 }}',
        "",
        ["Scheduler.test_milvus_takes_the_gpu"],
    ),
    (
        "a roll-back runs on the GPU pool",
        "templates/deploying.yaml",
        '"step" "seldon"',
        '"step" "train"',
        ["Argo.test_an_older_version_is_pointed_at"],
    ),
    (
        "a failing program's Job goes on",
        "templates/jobs.yaml",
        "- action: FailJob ",
        "- action: Count ",
        ["Scheduler.test_plain_jobs_follow_one_another", "Submit.test_plain_jobs_stop_and_go_on"],
    ),
    (
        "a field of the SeldonDeployment is misspelt",
        "templates/serving-seldon.yaml",
        "progressDeadlineSeconds:",
        "progresDeadlineSeconds:",
        [ACCEPTED],
    ),
    (
        "a field of the WorkflowTemplate is misspelt",
        FLOW,
        "ttlStrategy:",
        "ttlStrategie:",
        [ACCEPTED],
    ),
    ("a field of the network policy is misspelt", "templates/network.yaml", "    - from:", "    - form:", [ACCEPTED]),
    (
        "the schedule names the template",
        "templates/retraining.yaml",
        '{{- include "sibyl.workflowSpec" (dict "root" . "kind" .Values.retraining.kind "job" '
        '(.Values.retraining.job | toJson | replace "$(" "$$(")) | nindent 4 }}',
        'workflowTemplateRef: {name: {{ include "sibyl.fullname" . }}-{{ .Values.retraining.kind }}}',
        ["Pauses.test_a_schedule_starts_runs"],
    ),
    ("deploy writes under another name", PROGRAM, "?fieldManager=sibyl&", "?fieldManager=sibyx&", [OUTLIVES]),
    ("deploy writes another annotation", PROGRAM, "sibyl.dev/model-version", "sibyl.dev/model-versiom", [OUTLIVES]),
)


def broken(folder, file, text, instead):
    """The environment of tests that see the chart, or the program, with this one change."""
    if file is PROGRAM:
        variable, path = "SIBYL_PROGRAM", os.path.join(folder, "sibyl")
        shutil.copy(SIBYL, path)
        at = path
    else:
        variable, path = "SIBYL_TEST_CHART", os.path.join(folder, "chart")
        shutil.copytree(CHART, path)
        at = os.path.join(path, file)
    with open(at, "rb") as sound:
        whole = sound.read()
    text, instead = text.encode(), instead.encode()
    if text not in whole:
        raise SystemExit(f"{file}: {text!r} is not there any more")
    with open(at, "wb") as changed:
        changed.write(whole.replace(text, instead))
    return {**os.environ, variable: path}


def failures(said):
    """Names of tests that failed, of a run's output."""
    return sorted(set(re.findall(r"^(?:FAIL|ERROR): (\w+)", said, re.M) + re.findall(r"^failed: \w+\.(\w+)", said, re.M)))


def rendered(env):
    found = []
    for name in RENDERED:
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, name + "_test.py")], capture_output=True, text=True, env=env
        )
        found += failures(done.stderr)
    return sorted(set(found) - {"test_both_helms_render_the_goldens"})


def live(env, number, tests):
    env = {**env, "SIBYL_CLUSTER_ROUND": f"m{number}-", "SIBYL_CLUSTER_PATIENCE": "30"}
    program = [sys.executable, "-B", os.path.join(HERE, "live_test.py"), "--here", *tests]
    return failures(subprocess.run(program, capture_output=True, text=True, env=env).stderr)


def shown(found):
    return ", ".join(f"`{name.removeprefix('test_')}`" for name in found) or "–"


def main():
    numbers = {int(a) for a in sys.argv[1:] if a.isdigit()} or set(range(1, len(MUTATIONS) + 1))
    folder = tempfile.mkdtemp(prefix="sibyl-mutations-")
    down = None

    def seen(number):
        what, file, text, instead, tests = MUTATIONS[number - 1]
        with tempfile.TemporaryDirectory(dir=folder) as at:
            env = broken(at, file, text, instead)
            in_text = rendered(env) if file is not PROGRAM and "--live" not in sys.argv else []
            on_cluster = live(env, number, tests) if down and tests else []
        return number, what, in_text, on_cluster

    try:
        if "--rendered" not in sys.argv:
            down = live_test.start(folder, volumes=500)
            if not down:
                return 1
        print("| | broken | rendered tests that fail (goldens besides) | live tests that fail |\n|---|---|---|---|", flush=True)
        unseen = 0
        with concurrent.futures.ThreadPoolExecutor(3) as workers:  # most of it is waiting
            for number, what, in_text, on_cluster in workers.map(seen, sorted(numbers)):
                unseen += not (on_cluster if down and MUTATIONS[number - 1][4] else in_text)
                print(f"| {number} | {what} | {shown(in_text)} | {shown(on_cluster)} |", flush=True)
        print(f"{unseen} of {len(numbers)} were not seen", file=sys.stderr)
        return 1 if unseen else 0
    finally:
        if down:
            subprocess.run([down], timeout=120)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
