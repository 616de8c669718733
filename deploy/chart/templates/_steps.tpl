{{/* The pod of one step, the same for Argo's templates and for plain Jobs. */}}

{{- define "sibyl.workspaceUri" -}}
{{- if eq (include "sibyl.workspaceKind" .root) "store" -}}
{{- printf "%s/runs/" (.root.Values.store.uri | trimSuffix "/" | replace "$(" "$$(") -}}{{- .run -}}
{{- else -}}/workspace/{{- .run -}}
{{- end -}}
{{- end -}}

{{- define "sibyl.stepImage" -}}
{{- if ne .step "train" -}}{{- include "sibyl.sibylImage" .root -}}
{{- else -}}
{{- $variant := .root.Values.images.trainer.variant -}}
{{- if eq $variant "auto" -}}
{{- $variant = ternary "cuda13" "cpu" (ne "" (include "sibyl.asksForGpu" (dict "resources" .place.resources))) -}}
{{- end -}}
{{- include "sibyl.image" (dict "root" .root "image" .root.Values.images.trainer "tag" (printf "%s-%s" .root.Chart.AppVersion $variant)) -}}
{{- end -}}
{{- end -}}

{{/* Model name → the object that `deploy` annotates. */}}
{{- define "sibyl.deployTargets" -}}
{{- $targets := dict -}}
{{- $canary := and (gt (int .Values.serving.canary.share) 0) (eq .Values.serving.kind "deployment") -}}
{{- range .Values.serving.models -}}
{{- $object := include "sibyl.modelObject" (dict "root" $ "name" .name) -}}
{{- $_ := set $targets .name (ternary (printf "%s-canary" $object) $object $canary) -}}
{{- end -}}
{{- toJson $targets -}}
{{- end -}}

{{- define "sibyl.deployEnv" -}}
- {name: SIBYL_DEPLOY_KIND, value: {{ .Values.serving.kind }}}
- {name: SIBYL_DEPLOY_NAMESPACE, value: {{ .Release.Namespace }}}
- {name: SIBYL_DEPLOY_TARGETS, value: {{ include "sibyl.literal" (include "sibyl.deployTargets" .) }}}
{{- end -}}

{{/* dict root, kind, step, place, run (what the run is called), job (the job file or ""),
     runVariable (true where the run's name comes as SIBYL_RUN), pointed (true where the model is a parameter). */}}
{{- define "sibyl.stepContainer" -}}
{{- $root := .root -}}
{{- $speaks := has .step (list "prepare" "publish" "deploy") | and $root.Values.answers.enabled -}}
image: {{ include "sibyl.stepImage" . | toJson }}
imagePullPolicy: {{ ternary $root.Values.images.trainer.pullPolicy $root.Values.images.sibyl.pullPolicy (eq .step "train") }}
command: [sibyl]
args:
  - step
  - {{ .step }}
  - --workspace
  - {{ include "sibyl.workspaceUri" . | toJson }}
{{- if $speaks }}
  - --server
  - {{ include "sibyl.answersUrl" $root }}
{{- end }}
env:
  {{- include "sibyl.homeEnv" $root | nindent 2 }}
{{- if .runVariable }}
  - {name: SIBYL_RUN, value: run}
{{- end }}
{{- if eq .step "prepare" }}
  - {name: SIBYL_JOB, value: {{ .job | toJson }}}
{{- end }}
{{- if eq .step "deploy" }}
  {{- include "sibyl.deployEnv" $root | nindent 2 }}
{{- if .pointed }}
  - {name: SIBYL_DEPLOY_MODEL, value: "{{ "{{workflow.parameters.model}}" }}"}
  - {name: SIBYL_DEPLOY_POINTER, value: "{{ "{{workflow.parameters.pointer}}" }}"}
{{- else }}
  - {name: SIBYL_DEPLOY_POINTER, value: {{ ternary "candidate" "current" (gt (int $root.Values.serving.canary.share) 0) }}}
{{- end }}
{{- end }}
  {{- include "sibyl.storeEnv" $root | nindent 2 }}
{{- if $speaks }}
  {{- include "sibyl.answersEnv" $root | nindent 2 }}
{{- end }}
  {{- include "sibyl.userEnv" $root.Values.trainer.env | nindent 2 }}
{{ include "sibyl.resources" .place.resources }}
{{ include "sibyl.containerSecurity" $root }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
{{- if eq (include "sibyl.workspaceKind" $root) "claim" }}
  - {name: workspace, mountPath: /workspace}
{{- end }}
{{- if $speaks }}
  {{- include "sibyl.caMount" $root | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "sibyl.stepVolumes" -}}
- name: tmp
  emptyDir: {}
{{- if eq (include "sibyl.workspaceKind" .) "claim" }}
- name: workspace
  persistentVolumeClaim: {claimName: {{ include "sibyl.workspaceClaim" . | toJson }}}
{{- end }}
{{ include "sibyl.caVolume" . }}
{{- end -}}

{{/* dict root, kind, step: labels and annotations of a step's pod. A running step is not to be moved to empty
     a node: evicted and tried again, a long one would never end. Finished pods hold no node. */}}
{{- define "sibyl.stepMetadata" -}}
{{- $labels := include "sibyl.podLabels" (dict "root" .root "component" "step") | fromYaml -}}
{{- $_ := merge $labels (dict "sibyl.dev/kind" .kind "sibyl.dev/step" .step) -}}
{{- with .root.Values.trainer.queue -}}{{- $_ := set $labels "kueue.x-k8s.io/queue-name" . -}}{{- end -}}
labels: {{- toYaml (merge $labels .root.Values.trainer.podLabels) | nindent 2 }}
annotations:
{{- toYaml (merge (dict) .root.Values.trainer.podAnnotations (dict "cluster-autoscaler.kubernetes.io/safe-to-evict" "false")) | nindent 2 }}
{{- end -}}

{{/* dict root, place → fields of a pod that Argo's templates lack. */}}
{{- define "sibyl.podPatch" -}}
{{- $patch := dict "terminationGracePeriodSeconds" (int64 .root.Values.trainer.terminationGracePeriodSeconds) -}}
{{- if and .root.Values.trainer.runtimeClassName (include "sibyl.asksForGpu" (dict "resources" .place.resources)) -}}
{{- $_ := set $patch "runtimeClassName" .root.Values.trainer.runtimeClassName -}}
{{- end -}}
{{- toJson $patch -}}
{{- end -}}

{{/* Argo gives its own two containers no security context unless its configuration does, and a namespace that enforces
     restricted pods would refuse them. → JSON, merged into the pod by the containers' names */}}
{{- define "sibyl.argoPatch" -}}
{{- $context := dict "allowPrivilegeEscalation" false "runAsNonRoot" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- $argo := dict "initContainers" (list (dict "name" "init" "securityContext" $context)) "containers" (list (dict "name" "wait" "securityContext" $context)) -}}
{{- toJson (merge (include "sibyl.podPatch" . | fromJson) $argo) -}}
{{- end -}}

{{/* From attempt N on, train goes to the fallback pool: the patch is an expression of Argo's over the number
     of the retry. Braces and quotes of the two patches are written as escapes, since braces would end the
     expression and values of users must stay values. */}}
{{- define "sibyl.trainPatch" -}}
{{- $fallback := .root.Values.trainer.fallback -}}
{{- $patch := include "sibyl.argoPatch" . | fromJson -}}
{{- if gt (int $fallback.after) 0 -}}
{{- $selector := dict "$patch" "replace" -}}
{{- range $name, $value := $fallback.nodeSelector -}}{{- $_ := set $selector $name $value -}}{{- end -}}
{{- $moved := merge (dict "nodeSelector" $selector "tolerations" $fallback.tolerations) $patch -}}
{{- $first := toJson $patch | toJson | replace "{" "\\u007b" | replace "}" "\\u007d" -}}
{{- $then := toJson $moved | toJson | replace "{" "\\u007b" | replace "}" "\\u007d" -}}
{{- printf "{{=asInt(retries) >= %d ? %s : %s}}" (int $fallback.after) $then $first -}}
{{- else -}}
{{- toJson $patch -}}
{{- end -}}
{{- end -}}
