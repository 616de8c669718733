{{/* Where a step runs: the step's own key when it is there, else the kind's `default`, else `default`.
     An explicit {} or [] is an answer, so hasKey decides and never `default`, for which empty is absent.
     null is how Helm's users delete a key: it counts as absent. */}}

{{- define "sibyl.kinds" -}}supervised coldstart evaluation{{- end -}}

{{/* The steps that a kind's workflow runs, in order. */}}
{{- define "sibyl.steps" -}}
{{- if eq .kind "evaluation" -}}prepare evaluate
{{- else if not (include "sibyl.serves" .root) -}}prepare train evaluate publish
{{- else -}}prepare train evaluate publish deploy
{{- end -}}
{{- end -}}

{{/* dict root, field, kind, step → JSON {"value": …, "key": the key that it was read from}. */}}
{{- define "sibyl.resolve" -}}
{{- $tree := index (index .root.Values "question-answering" | default dict) .field | default dict -}}
{{- $base := printf "question-answering.%s" .field -}}
{{- $found := dict "value" (index $tree "default") "key" (printf "%s.default" $base) -}}
{{- $stage := index $tree .kind -}}
{{- if kindIs "map" $stage -}}
{{- $names := list .step -}}
{{- if eq .step "prepare" -}}{{- $names = append $names "sparkSolrEtl" -}}{{- end -}}
{{- if and (eq .step "evaluate") (eq .kind "evaluation") -}}{{- $names = append $names "train" -}}{{- end -}}
{{- $kind := .kind -}}
{{- range $name := reverse (append $names "default") -}}
{{- if and (hasKey $stage $name) (not (kindIs "invalid" (index $stage $name))) -}}
{{- $found = dict "value" (index $stage $name) "key" (printf "%s.%s.%s" $base $kind $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* Numbers of values are floating point: 1073741824 would come out as 1.073741824e+09. */}}
{{- define "sibyl.amounts" -}}
{{- range $name, $amount := . }}
{{ $name | toJson }}: {{ if kindIs "string" $amount }}{{ $amount | toJson }}{{ else if eq (float64 $amount) (floor $amount) }}{{ int64 $amount }}{{ else }}{{ toJson $amount }}{{ end }}
{{- end }}
{{- end -}}

{{/* A container's `resources:`, or nothing. */}}
{{- define "sibyl.resources" -}}
{{- if or .requests .limits -}}
resources:
{{- with .requests }}
  requests: {{- include "sibyl.amounts" . | nindent 4 }}
{{- end }}
{{- with .limits }}
  limits: {{- include "sibyl.amounts" . | nindent 4 }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* dict nodeSelector, tolerations, affinity: the fields of a pod, a template or a predictor. */}}
{{- define "sibyl.placed" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
{{- range . }}
  - {{- range $name, $value := . }}
    {{ $name }}: {{ if kindIs "float64" $value }}{{ int64 $value }}{{ else }}{{ toJson $value }}{{ end }}
    {{- end }}
{{- end }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* dict root, kind, step → JSON {nodeSelector, tolerations, resources}, checked. */}}
{{- define "sibyl.placement" -}}
{{- $place := dict -}}
{{- range $field := list "nodeSelector" "tolerations" "resources" -}}
{{- $found := include "sibyl.resolve" (dict "root" $.root "field" $field "kind" $.kind "step" $.step) | fromJson -}}
{{- $_ := set $place $field $found.value -}}
{{- if eq $field "resources" -}}{{- include "sibyl.checkResources" (dict "resources" $found.value "key" $found.key) -}}{{- end -}}
{{- if eq $field "tolerations" -}}{{- include "sibyl.checkTolerations" (dict "tolerations" $found.value "key" $found.key) -}}{{- end -}}
{{- end -}}
{{- toJson $place -}}
{{- end -}}

{{/* dict resources: "yes" when it asks for a GPU of any vendor. */}}
{{- define "sibyl.asksForGpu" -}}
{{- range $name, $_ := (.resources | default dict).limits | default dict -}}
{{- if or (hasSuffix "/gpu" $name) (hasPrefix "nvidia.com/mig-" $name) -}}yes{{- end -}}
{{- end -}}
{{- end -}}
