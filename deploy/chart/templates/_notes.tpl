{{/* Values of older charts that are accepted and mean nothing here. One path a line. */}}
{{- define "sibyl.ignored" -}}
{{- $ignored := list -}}
{{- $qa := index .Values "question-answering" | default dict -}}
{{- range $key := list "image" "rbac" "tls" "securityContext" "containersSecurityContext" "replicaCount" -}}
{{- if hasKey $qa $key -}}{{- $ignored = append $ignored (printf "question-answering.%s" $key) -}}{{- end -}}
{{- end -}}
{{- range $field := list "nodeSelector" "tolerations" "resources" -}}
{{- if hasKey (index $qa $field | default dict) "deploy" -}}{{- $ignored = append $ignored (printf "question-answering.%s.deploy" $field) -}}{{- end -}}
{{- $tree := index $qa $field | default dict -}}
{{- range $kind := list "supervised" "coldstart" "evaluation" -}}
{{- $stage := index $tree $kind | default dict -}}
{{- if and (hasKey $stage "prepare") (hasKey $stage "sparkSolrEtl") -}}{{- $ignored = append $ignored (printf "question-answering.%s.%s.sparkSolrEtl (prepare stands beside it)" $field $kind) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $service := index .Values "ml-model-service" | default dict -}}
{{- range $key, $_ := $service -}}
{{- if ne $key "milvus" -}}{{- $ignored = append $ignored (printf "ml-model-service.%s" $key) -}}{{- end -}}
{{- end -}}
{{- range $key, $_ := $service.milvus | default dict -}}
{{- if has $key (list "replicas" "cluster" "mysql" "externalMysql" "admin" "readonly" "mishards" "version" "securityContext") -}}{{- $ignored = append $ignored (printf "ml-model-service.milvus.%s" $key) -}}{{- end -}}
{{- end -}}
{{- if hasKey .Values "argo-common-workflows" -}}{{- $ignored = append $ignored "argo-common-workflows" -}}{{- end -}}
{{- join "\n" $ignored -}}
{{- end -}}

{{/* What the operator should know. One warning a line, each with what to do. */}}
{{- define "sibyl.warnings" -}}
{{- $root := . -}}
{{- $warnings := list -}}
{{- $apis := .Capabilities.APIVersions -}}
{{- if and (eq .Values.trainer.kind "argo") (not ($apis.Has "argoproj.io/v1alpha1")) -}}
{{- $warnings = append $warnings "Argo Workflows is not there (no API argoproj.io/v1alpha1). Install it, or set trainer.kind=job." -}}
{{- end -}}
{{- if and (eq .Values.serving.kind "seldon") (not ($apis.Has "machinelearning.seldon.io/v1")) -}}
{{- $warnings = append $warnings "Seldon Core is not there (no API machinelearning.seldon.io/v1). Install 1.17.1, or set serving.kind=kserve or deployment." -}}
{{- end -}}
{{- if and (eq .Values.serving.kind "kserve") (not ($apis.Has "serving.kserve.io/v1beta1")) -}}
{{- $warnings = append $warnings "KServe is not there (no API serving.kserve.io/v1beta1). Install it, or set serving.kind=deployment." -}}
{{- end -}}
{{- if eq .Values.serving.kind "seldon" -}}
{{- $warnings = append $warnings "Seldon Core is open source (Apache 2.0) up to 1.17.1; 1.18 and later are under the Business Source License, and production use needs a contract." -}}
{{- end -}}
{{- if not .Values.images.registry -}}
{{- $warnings = append $warnings "images.registry is empty: nodes look for the images sibyl and sibyl-trainer where their container runtime does by default." -}}
{{- end -}}
{{- if and (not .Values.store.uri) (eq (include "sibyl.workspaceKind" .) "claim") -}}
{{- $warnings = append $warnings (printf "store.uri is empty: workspaces lie on the claim %s. A ReadWriteOnce claim is of one zone: all steps must run there, and a retried step waits until the old node lets go." (include "sibyl.workspaceClaim" .)) -}}
{{- end -}}
{{- if and .Values.answers.tls.secretName (not .Values.answers.tls.caSecretName) -}}
{{- $warnings = append $warnings "answers.tls.secretName is set and answers.tls.caSecretName is not: steps and model pods trust the answer server only if a public authority signed it." -}}
{{- end -}}
{{- $milvus := dict -}}
{{- if include "sibyl.milvusWanted" . -}}
{{- $milvus = include "sibyl.milvus" . | fromJson -}}
{{- end -}}
{{- $milvusGpu := and $milvus (include "sibyl.asksForGpu" (dict "resources" (include "sibyl.milvusResources" $milvus | fromJson))) -}}
{{- $shared := dict -}}
{{- range $kind := list "supervised" "coldstart" -}}
{{- $place := include "sibyl.placement" (dict "root" $root "kind" $kind "step" "train") | fromJson -}}
{{- if include "sibyl.asksForGpu" (dict "resources" $place.resources) -}}
{{- if not $place.nodeSelector -}}
{{- $warnings = append $warnings (printf "%s.train asks for a GPU and has no nodeSelector: it may start the dearest pool that has one. Name the pool in question-answering.nodeSelector.%s.train." $kind $kind) -}}
{{- else if and $milvusGpu (eq (toJson $place.nodeSelector) (toJson $milvus.nodeSelector)) -}}
{{- $_ := set $shared $kind true -}}
{{- end -}}
{{- end -}}
{{- $seldon := include "sibyl.placement" (dict "root" $root "kind" $kind "step" "seldon") | fromJson -}}
{{- if and (include "sibyl.serves" $root) $root.Values.serving.autoscaling.enabled (not (($seldon.resources | default dict).requests | default dict).cpu) -}}
{{- $warnings = append $warnings (printf "serving.autoscaling counts in shares of the CPU that is requested, and question-answering.resources.%s.seldon requests none: it will not scale." $kind) -}}
{{- end -}}
{{- if and (ne $root.Values.serving.kind "none") (include "sibyl.asksForGpu" (dict "resources" $seldon.resources)) -}}
{{- $warnings = append $warnings (printf "%s.seldon asks for a GPU: a pod that serves for years holds its GPU node for years." $kind) -}}
{{- end -}}
{{- end -}}
{{- if $shared -}}
{{- $warnings = append $warnings (printf "Milvus and training (%s) ask for GPUs of the same pool. Milvus never ends: on a pool of one GPU the train step waits for ever, and the GPU node never goes away. Give Milvus a pool of its own (ml-model-service.milvus.nodeSelector), or let the pool grow to two nodes; without a GPU of its own set ml-model-service.milvus.gpu.enabled=false and the CPU image." (keys $shared | sortAlpha | join ", ")) -}}
{{- end -}}
{{- if and $milvus $milvus.gpu.enabled (not $milvusGpu) -}}
{{- $warnings = append $warnings "ml-model-service.milvus.gpu.enabled is true and its resources ask for no GPU: the pod will see none. Add limits nvidia.com/gpu: 1." -}}
{{- end -}}
{{- if and $milvus (not $milvus.gpu.enabled) $milvusGpu -}}
{{- $warnings = append $warnings "Milvus asks for a GPU and gpu.enabled is false: it would hold a GPU node and not use it." -}}
{{- end -}}
{{- if and (eq .Values.trainer.kind "job") (gt (int .Values.trainer.fallback.after) 0) -}}
{{- $warnings = append $warnings "trainer.fallback has no effect with trainer.kind=job: a plain Job keeps its node selector. Argo can move it." -}}
{{- end -}}
{{- if and (eq .Values.serving.kind "kserve") (gt (int .Values.serving.canary.share) 0) (has .Values.serving.kserve.deploymentMode (list "Standard" "RawDeployment")) -}}
{{- $warnings = append $warnings "serving.canary.share has no effect in KServe's Standard mode; it needs Knative mode." -}}
{{- end -}}
{{- if and (eq .Values.serving.kind "deployment") (gt (int .Values.serving.canary.share) 0) -}}
{{- $warnings = append $warnings (printf "With serving.kind=deployment requests are spread evenly over pods: serving.canary.share=%d comes out as canary.replicas / (replicas + canary.replicas)." (int .Values.serving.canary.share)) -}}
{{- end -}}
{{- join "\n" $warnings -}}
{{- end -}}
