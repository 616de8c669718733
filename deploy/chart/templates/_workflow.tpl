{{/* dict root, kind, job (the job file or ""): spec of a workflow that runs the steps of a kind, for a WorkflowTemplate and
     for a schedule. A schedule does not name the template: Argo's controller sees the schedule first, since Helm makes
     kinds in the order of their names, finds no such template, and looks again after 20 minutes. */}}
{{- define "sibyl.workflowSpec" -}}
{{- $root := .root -}}
{{- $steps := splitList " " (include "sibyl.steps" (dict "root" $root "kind" .kind)) -}}
# No placement here: Argo replaces and never merges it, and takes an empty list of a template for none.
entrypoint: run
arguments:
  parameters:
    - name: job
      value: {{ .job | toJson }}
      description: The job file as JSON; blank when the workspace has one already.
serviceAccountName: {{ include "sibyl.fullname" $root }}-steps
# Only Argo's own container speaks to the API server, with an account of its own.
automountServiceAccountToken: false
executor: {serviceAccountName: {{ include "sibyl.fullname" $root }}-executor}
{{- include "sibyl.podSecurity" $root | nindent 0 }}
{{- include "sibyl.pullSecrets" $root | nindent 0 }}
# Only this ends a pod that waits for a node for ever: the timeout of a step that is retried does not.
activeDeadlineSeconds: {{ mul 60 (int $root.Values.trainer.timeoutMinutes.run) }}
podGC: {strategy: {{ $root.Values.trainer.podGC }}}
ttlStrategy:
  secondsAfterSuccess: {{ int64 $root.Values.trainer.ttlSeconds.success }}
  secondsAfterFailure: {{ int64 $root.Values.trainer.ttlSeconds.failure }}
volumes:
  {{- include "sibyl.stepVolumes" $root | nindent 2 }}
templates:
  - name: run
    dag:
      tasks:
      {{- range $index, $step := $steps }}
        - name: {{ $step }}
          template: {{ $step }}
        {{- if $index }}
          depends: {{ index $steps (sub $index 1 | int) }}
        {{- end }}
      {{- end }}
  {{- range $step := $steps }}
  {{- $place := include "sibyl.placement" (dict "root" $root "kind" $.kind "step" $step) | fromJson }}
  - name: {{ $step }}
    metadata:
      {{- include "sibyl.stepMetadata" (dict "root" $root "kind" $.kind "step" $step) | nindent 6 }}
    {{- include "sibyl.placed" $place | nindent 4 }}
    podSpecPatch: {{ include (ternary "sibyl.trainPatch" "sibyl.argoPatch" (eq $step "train")) (dict "root" $root "place" $place) | toJson }}
    # Of one attempt, from when it starts.
    timeout: {{ printf "%dm" (int (index $root.Values.trainer.timeoutMinutes $step)) }}
    retryStrategy:
      limit: {{ $root.Values.trainer.retries | toString | toJson }}
      retryPolicy: Always
      # A lost node, an eviction and exit 75 (interrupted, state saved) are tried again; a program that fails is not.
      expression: >-
        lastRetry.status == "Error"
        or lastRetry.message matches "imminent node shutdown|pod deleted|Evicted|[Pp]reempt|node.*(lost|shut)"
        or asInt(lastRetry.exitCode) == 75
      backoff:
        duration: {{ $root.Values.trainer.backoff.duration | toJson }}
        factor: {{ $root.Values.trainer.backoff.factor | toString | toJson }}
        cap: {{ $root.Values.trainer.backoff.cap | toJson }}
    {{- if eq $step "deploy" }}
    serviceAccountName: {{ include "sibyl.fullname" $root }}-deploy
    automountServiceAccountToken: true
    {{- end }}
    container:
      {{- include "sibyl.stepContainer" (dict "root" $root "kind" $.kind "step" $step "place" $place "run" "{{workflow.name}}" "job" "{{workflow.parameters.job}}") | nindent 6 }}
  {{- end }}
{{- end -}}
