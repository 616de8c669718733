{{/* Names, labels, images, addresses. Names are cut so that what others build of them stays in 63 characters. */}}

{{/* A DNS label of at most `length` characters; a name that had to be changed ends in a hash of it. */}}
{{- define "sibyl.label" -}}
{{- $label := regexReplaceAll "[^a-z0-9-]" (lower .name) "-" | trimAll "-" -}}
{{- if or (ne $label .name) (gt (len $label) (int .length)) -}}
{{- $label = printf "%s-%s" ($label | trunc (int (sub (int .length) 9)) | trimSuffix "-") (sha256sum .name | trunc 8) -}}
{{- end -}}
{{- $label -}}
{{- end -}}

{{- define "sibyl.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}{{- $name = .Values.fullnameOverride -}}
{{- else if not (contains $name .Release.Name) -}}{{- $name = printf "%s-%s" .Release.Name $name -}}
{{- else -}}{{- $name = .Release.Name -}}
{{- end -}}
{{- include "sibyl.label" (dict "name" $name "length" 32) -}}
{{- end -}}

{{- define "sibyl.name" -}}
{{- include "sibyl.label" (dict "name" (default .Chart.Name .Values.nameOverride) "length" 63) -}}
{{- end -}}

{{/* dict root, component: what a Service or policy selects. */}}
{{- define "sibyl.selector" -}}
app.kubernetes.io/name: {{ include "sibyl.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "sibyl.labels" -}}
{{ include "sibyl.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels of pods have no versions in them: a new chart does not restart what it did not change. */}}
{{- define "sibyl.podLabels" -}}
{{ include "sibyl.selector" . }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A value in env or args: Kubernetes would replace $(NAME) in it. */}}
{{- define "sibyl.literal" -}}
{{- . | toString | replace "$(" "$$(" | toJson -}}
{{- end -}}

{{/* dict root, image, tag: the default tag is the chart's version. */}}
{{- define "sibyl.image" -}}
{{- $image := .image.repository -}}
{{- with .root.Values.images.registry -}}{{- $image = printf "%s/%s" (trimSuffix "/" .) $image -}}{{- end -}}
{{- if .image.digest -}}{{- printf "%s@%s" $image .image.digest -}}
{{- else -}}{{- printf "%s:%s" $image (default .tag .image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "sibyl.sibylImage" -}}
{{- include "sibyl.image" (dict "root" . "image" .Values.images.sibyl "tag" .Chart.AppVersion) -}}
{{- end -}}

{{/* The object that serves a model, from the model's name: a Service of Seldon adds up to 14 characters and
     the container's name, a claim or route of KServe about as many. */}}
{{- define "sibyl.modelObject" -}}
{{- include "sibyl.label" (dict "name" (printf "%s-model-%s" (include "sibyl.fullname" .root) .name) "length" 42) -}}
{{- end -}}

{{/* The container (and Seldon's graph node) that serves a model. */}}
{{- define "sibyl.modelContainer" -}}
{{- include "sibyl.label" (dict "name" .name "length" 63) -}}
{{- end -}}

{{- define "sibyl.answersName" -}}
{{- printf "%s-answers" (include "sibyl.fullname" .) -}}
{{- end -}}

{{- define "sibyl.answersUrl" -}}
{{- $scheme := ternary "https" "http" (ne "" .Values.answers.tls.secretName) -}}
{{- printf "%s://%s.%s.svc:%d" $scheme (include "sibyl.answersName" .) .Release.Namespace (int .Values.answers.service.httpPort) -}}
{{- end -}}

{{- define "sibyl.apiKeysSecret" -}}
{{- default (printf "%s-api-keys" (include "sibyl.fullname" .)) .Values.answers.apiKeysSecret -}}
{{- end -}}

{{- define "sibyl.workspaceKind" -}}
{{- if ne .Values.workspace.kind "auto" -}}{{- .Values.workspace.kind -}}
{{- else -}}{{- ternary "store" "claim" (ne "" .Values.store.uri) -}}
{{- end -}}
{{- end -}}

{{- define "sibyl.workspaceClaim" -}}
{{- default (printf "%s-workspace" (include "sibyl.fullname" .)) .Values.workspace.claim.existing -}}
{{- end -}}

{{/* Below it lie models/NAME/VERSION and models/NAME/current. */}}
{{- define "sibyl.modelBase" -}}
{{- if .Values.store.uri -}}{{- trimSuffix "/" .Values.store.uri -}}
{{- else -}}{{- printf "%s/v1" (include "sibyl.answersUrl" .) -}}
{{- end -}}
{{- end -}}

{{/* dict root, model, pointer (current or candidate). The version is never rendered. */}}
{{- define "sibyl.modelUri" -}}
{{- if .model.uri -}}{{- .model.uri -}}
{{- else -}}{{- printf "%s/models/%s/%s" (include "sibyl.modelBase" .root) .model.name .pointer -}}
{{- end -}}
{{- end -}}

{{/* "yes" when this release serves models. */}}
{{- define "sibyl.serves" -}}
{{- if and (ne .Values.serving.kind "none") .Values.serving.models -}}yes{{- end -}}
{{- end -}}

{{- define "sibyl.protocol" -}}
{{- if ne .Values.serving.protocol "auto" -}}{{- .Values.serving.protocol -}}
{{- else -}}{{- ternary "seldon" "v2" (eq .Values.serving.kind "seldon") -}}
{{- end -}}
{{- end -}}

{{/* dict root, model: where the answer server calls it. */}}
{{- define "sibyl.modelUrl" -}}
{{- $object := include "sibyl.modelObject" (dict "root" .root "name" .model.name) -}}
{{- $namespace := .root.Release.Namespace -}}
{{- if eq .root.Values.serving.kind "seldon" -}}
{{- printf "http://%s-default.%s.svc:8000" $object $namespace -}}
{{- else if eq .root.Values.serving.kind "kserve" -}}
{{- printf "http://%s-predictor.%s.svc" $object $namespace -}}
{{- else -}}
{{- printf "http://%s.%s.svc:8080" $object $namespace -}}
{{- end -}}
{{- end -}}
