{{/* The pod that serves a model, the same in Seldon, KServe and a plain Deployment. */}}

{{- define "sibyl.servingPlace" -}}
{{- include "sibyl.placement" (dict "root" .root "kind" .model.kind "step" "seldon") -}}
{{- end -}}

{{/* dict root, model: what selects all pods of a model, canary or not. */}}
{{- define "sibyl.servingSelector" -}}
{{ include "sibyl.selector" (dict "root" .root "component" "model-server") }}
sibyl.dev/model: {{ include "sibyl.modelContainer" (dict "name" .model.name) }}
{{- end -}}

{{- define "sibyl.servingLabels" -}}
{{ include "sibyl.labels" (dict "root" .root "component" "model-server") }}
sibyl.dev/model: {{ include "sibyl.modelContainer" (dict "name" .model.name) }}
{{- end -}}

{{- define "sibyl.servingPodLabels" -}}
{{- $labels := include "sibyl.podLabels" (dict "root" .root "component" "model-server") | fromYaml -}}
{{- $_ := set $labels "sibyl.dev/model" (include "sibyl.modelContainer" (dict "name" .model.name)) -}}
{{- toYaml (merge $labels .root.Values.serving.podLabels) -}}
{{- end -}}

{{/* The volume holds nothing that is missed: it does not keep a node from going. */}}
{{- define "sibyl.servingAnnotations" -}}
{{- toYaml (merge (dict) .root.Values.serving.podAnnotations (dict "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes" "tmp")) -}}
{{- end -}}

{{/* dict root, model, pointer, container, http, grpc, metrics (ports; metrics 0: on http). */}}
{{- define "sibyl.servingContainer" -}}
{{- $root := .root -}}
{{- $readsAnswers := and (not .model.uri) (not $root.Values.store.uri) -}}
name: {{ .container }}
image: {{ include "sibyl.sibylImage" $root | toJson }}
imagePullPolicy: {{ $root.Values.images.sibyl.pullPolicy }}
command: [sibyl]
args:
  - serve
  - --role
  - models
  - --model
  - {{ include "sibyl.literal" (printf "%s=%s" .model.name (include "sibyl.modelUri" (dict "root" $root "model" .model "pointer" .pointer))) }}
{{- if ne $root.Values.serving.kind "seldon" }}
  - --http
  - 0.0.0.0:{{ .http }}
  - --grpc
  - 0.0.0.0:{{ .grpc }}
{{- end }}
env:
  {{- include "sibyl.homeEnv" $root | nindent 2 }}
  {{- include "sibyl.storeEnv" $root | nindent 2 }}
{{- if $readsAnswers }}
  {{- include "sibyl.answersEnv" $root | nindent 2 }}
{{- end }}
  {{- include "sibyl.userEnv" $root.Values.serving.env | nindent 2 }}
ports:
  - {name: {{ .httpName }}, containerPort: {{ .http }}, protocol: TCP}
  {{- if .grpcName }}
  - {name: {{ .grpcName }}, containerPort: {{ .grpc }}, protocol: TCP}
  {{- end }}
  {{- if .metrics }}
  - {name: metrics, containerPort: {{ .metrics }}, protocol: TCP}
  {{- end }}
# The port opens when the model is loaded and warm.
startupProbe:
  httpGet: {path: /health/ready, port: {{ .http }}}
  periodSeconds: 5
  failureThreshold: {{ div (add (int $root.Values.serving.startupSeconds) 4) 5 }}
readinessProbe:
  httpGet: {path: /health/ready, port: {{ .http }}}
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  httpGet: {path: /health/live, port: {{ .http }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
lifecycle:
  # Endpoints forget the pod before it stops taking requests.
  preStop: {exec: {command: [/bin/sleep, "5"]}}
{{ include "sibyl.resources" .place.resources }}
{{ include "sibyl.containerSecurity" $root }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- if $readsAnswers }}
  {{- include "sibyl.caMount" $root | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* dict root, model, place and the container's: fields of the pod. */}}
{{- define "sibyl.servingPod" -}}
{{- include "sibyl.placed" .place }}
serviceAccountName: {{ include "sibyl.fullname" .root }}-serving
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ int64 .root.Values.serving.terminationGracePeriodSeconds }}
{{ include "sibyl.podSecurity" .root }}
{{ include "sibyl.pullSecrets" .root }}
{{- if .root.Values.serving.topologySpread }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "sibyl.servingSelector" $ | nindent 8 }}
  {{- end }}
{{- end }}
containers:
  - {{- include "sibyl.servingContainer" . | nindent 4 }}
volumes:
  - name: tmp
    emptyDir: {}
  {{- include "sibyl.caVolume" .root | nindent 2 }}
{{- end -}}

{{/* Target of HPAs, `autoscaling/v2`. */}}
{{- define "sibyl.cpuMetric" -}}
- type: Resource
  resource:
    name: cpu
    target: {type: Utilization, averageUtilization: {{ int .Values.serving.autoscaling.targetCPUUtilizationPercentage }}}
{{- end -}}
