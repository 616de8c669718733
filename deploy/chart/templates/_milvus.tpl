{{/* Milvus 0.10.2 for the operator's own clients, wanted when ml-model-service.milvus is there. */}}
{{- define "sibyl.milvusWanted" -}}
{{- $service := index .Values "ml-model-service" | default dict -}}
{{- if kindIs "map" $service.milvus -}}
{{- if or (not (hasKey $service.milvus "enabled")) $service.milvus.enabled -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{- define "sibyl.milvusName" -}}
{{- printf "%s-milvus" (include "sibyl.fullname" .) -}}
{{- end -}}

{{/* The operator's values over our defaults: a key that is there wins. → JSON */}}
{{- define "sibyl.milvus" -}}
{{- $given := (index .Values "ml-model-service").milvus -}}
{{- $base := dict
  "gpu" (dict "enabled" false "cacheSize" "1GB" "gpuSearchThreshold" 1000 "searchDevices" (list "gpu0") "buildIndexDevices" (list "gpu0"))
  "image" (dict "repository" "milvusdb/milvus" "pullPolicy" "IfNotPresent")
  "cache" (dict "cacheSize" "4GB" "insertBufferSize" "1GB" "preloadCollection" "")
  "storage" (dict "autoFlushInterval" 1)
  "wal" (dict "enabled" true "recoveryErrorIgnore" false "bufferSize" "256MB")
  "logs" (dict "level" "info")
  "metrics" (dict "enabled" false "address" "127.0.0.1" "port" 9091)
  "network" (dict "httpPort" 19121)
  "service" (dict "type" "ClusterIP" "port" 19530)
  "persistence" (dict "enabled" true "size" "50Gi" "accessMode" "ReadWriteOnce")
-}}
{{- toJson (mergeOverwrite $base $given) -}}
{{- end -}}

{{/* `resources` stands under image in the values that operators have, and beside it in other charts: both
     count, and beside wins. → JSON */}}
{{- define "sibyl.milvusResources" -}}
{{- $under := (.image | default dict).resources | default dict -}}
{{- toJson (mergeOverwrite (dict) $under (.resources | default dict)) -}}
{{- end -}}
