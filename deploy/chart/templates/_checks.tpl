{{/* What a schema cannot say. Each message names the key, what it holds and what would be right. */}}

{{/* dict resources, key. Kubernetes takes extended resources (names with a slash) as limits, never
     overcommitted: a request must be missing or equal, whole, and beside a limit. */}}
{{- define "sibyl.checkResources" -}}
{{- $requests := (.resources | default dict).requests | default dict -}}
{{- $limits := (.resources | default dict).limits | default dict -}}
{{- $key := .key -}}
{{- range $name, $asked := $requests -}}
{{- if contains "/" $name -}}
{{- if not (hasKey $limits $name) -}}
{{- fail (printf "%s: requests.%s is %v and limits.%s is missing; give both the same value" $key $name $asked $name) -}}
{{- else if ne (toString $asked) (toString (index $limits $name)) -}}
{{- fail (printf "%s: requests.%s is %v but limits.%s is %v; Kubernetes wants them equal" $key $name $asked $name (index $limits $name)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $limit := $limits -}}
{{- if and (contains "/" $name) (not (regexMatch "^[0-9]+$" (toString $limit))) -}}
{{- fail (printf "%s: limits.%s is %v; devices are counted in whole numbers" $key $name $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* dict tolerations, key. */}}
{{- define "sibyl.checkTolerations" -}}
{{- $key := .key -}}
{{- range $index, $t := .tolerations -}}
{{- if and (eq (default "Equal" $t.operator) "Exists") $t.value -}}
{{- fail (printf "%s[%d]: operator Exists takes no value, and value is %q; use Equal or leave value out" $key $index $t.value) -}}
{{- end -}}
{{- if and (not $t.key) (ne (default "Equal" $t.operator) "Exists") -}}
{{- fail (printf "%s[%d]: key is empty and operator is not Exists; name the taint's key" $key $index) -}}
{{- end -}}
{{- if and (hasKey $t "tolerationSeconds") (ne (default "" $t.effect) "NoExecute") -}}
{{- fail (printf "%s[%d]: tolerationSeconds needs effect NoExecute" $key $index) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Every combination is checked, also of kinds and steps that this release does not run. */}}
{{- define "sibyl.checkAll" -}}
{{- $root := . -}}
{{- range $kind := splitList " " (include "sibyl.kinds" .) -}}
{{- range $step := list "prepare" "train" "evaluate" "publish" "deploy" "seldon" -}}
{{- $_ := include "sibyl.placement" (dict "root" $root "kind" $kind "step" $step) -}}
{{- end -}}
{{- end -}}
{{- $serving := .Values.serving -}}
{{- if and (eq (include "sibyl.workspaceKind" .) "store") (not .Values.store.uri) -}}
{{- fail "workspace.kind is store and store.uri is empty; set store.uri, for example s3://bucket/prefix" -}}
{{- end -}}
{{- if and .Values.retraining.schedules (ne .Values.trainer.kind "argo") -}}
{{- fail (printf "retraining.schedules needs trainer.kind argo, and it is %q: plain Jobs are started one after another by `sibyl cluster submit`" .Values.trainer.kind) -}}
{{- end -}}
{{- if and .Values.retraining.schedules (not .Values.retraining.job) -}}
{{- fail "retraining.schedules is set and retraining.job is empty; put the job file there" -}}
{{- end -}}
{{- if and .Values.retraining.job.kind (ne .Values.retraining.job.kind (ternary "evaluate" .Values.retraining.kind (eq .Values.retraining.kind "evaluation"))) -}}
{{- fail (printf "retraining.job.kind is %q and retraining.kind is %q; they must be the same job" .Values.retraining.job.kind .Values.retraining.kind) -}}
{{- end -}}
{{- if and (gt (int .Values.trainer.fallback.after) 0) (not .Values.trainer.fallback.nodeSelector) -}}
{{- fail "trainer.fallback.after is set and trainer.fallback.nodeSelector is empty; name the pool to fall back to" -}}
{{- end -}}
{{- if and (gt (int .Values.trainer.fallback.after) 0) (ge (int .Values.trainer.fallback.after) (int .Values.trainer.retries)) -}}
{{- fail (printf "trainer.fallback.after is %d and trainer.retries %d; the fallback would never come" (int .Values.trainer.fallback.after) (int .Values.trainer.retries)) -}}
{{- end -}}
{{- include "sibyl.checkTolerations" (dict "tolerations" .Values.trainer.fallback.tolerations "key" "trainer.fallback.tolerations") -}}
{{- include "sibyl.checkTolerations" (dict "tolerations" .Values.answers.tolerations "key" "answers.tolerations") -}}
{{- include "sibyl.checkResources" (dict "resources" .Values.answers.resources "key" "answers.resources") -}}
{{- if and $serving.autoscaling.enabled (gt (int $serving.autoscaling.minReplicas) (int $serving.autoscaling.maxReplicas)) -}}
{{- fail (printf "serving.autoscaling: minReplicas is %d and maxReplicas %d" (int $serving.autoscaling.minReplicas) (int $serving.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if and .Values.answers.ingress.enabled (not .Values.answers.ingress.host) -}}
{{- fail "answers.ingress.enabled is true and answers.ingress.host is empty; name the host, the server answers to no other" -}}
{{- end -}}
{{- $seen := dict -}}
{{- range $index, $model := $serving.models -}}
{{- if hasKey $seen $model.name -}}{{- fail (printf "serving.models[%d].name: %q stands there twice" $index $model.name) -}}{{- end -}}
{{- $_ := set $seen $model.name true -}}
{{- if and (ne $serving.kind "none") (not $model.uri) (not $root.Values.store.uri) (not $root.Values.answers.enabled) -}}
{{- fail (printf "serving.models[%d].uri, store.uri and answers.enabled are all off: nothing holds the model %q; set one of them" $index $model.name) -}}
{{- end -}}
{{- if and (eq $serving.kind "seldon") (eq (include "sibyl.protocol" $root) "v2") (ne $model.name (include "sibyl.modelContainer" (dict "name" $model.name))) -}}
{{- fail (printf "serving.models[%d].name: %q is no name of a container, and Seldon's v2 protocol calls the model by it; use lower-case letters, digits and hyphens, at most 63, or serving.protocol seldon" $index $model.name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
