{{/* What all pods share: identity, write-protected root, the environment of the store. */}}

{{- define "sibyl.podSecurity" -}}
securityContext:
  runAsNonRoot: true
{{- if not (kindIs "invalid" .Values.security.runAsUser) }}
  runAsUser: {{ int64 .Values.security.runAsUser }}
  runAsGroup: {{ int64 .Values.security.runAsUser }}
{{- end }}
{{- if not (kindIs "invalid" .Values.security.fsGroup) }}
  fsGroup: {{ int64 .Values.security.fsGroup }}
  fsGroupChangePolicy: OnRootMismatch
{{- end }}
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "sibyl.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "sibyl.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where the object store is and who we are there. The names are those that every S3 client reads. */}}
{{- define "sibyl.storeEnv" -}}
{{- with .Values.store.uri }}
- {name: SIBYL_STORE, value: {{ include "sibyl.literal" . }}}
{{- end }}
{{- with .Values.store.endpoint }}
- {name: AWS_ENDPOINT_URL, value: {{ include "sibyl.literal" . }}}
{{- end }}
{{- with .Values.store.region }}
- {name: AWS_REGION, value: {{ include "sibyl.literal" . }}}
{{- end }}
{{- with .Values.store.secretName }}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ . }}
  valueFrom: {secretKeyRef: {name: {{ $.Values.store.secretName | toJson }}, key: {{ . }}}}
{{- end }}
{{- end }}
{{- end -}}

{{/* For those who speak to the answer server. */}}
{{- define "sibyl.answersEnv" -}}
- name: SIBYL_API_KEY
  valueFrom: {secretKeyRef: {name: {{ include "sibyl.apiKeysSecret" . }}, key: key}}
{{- if .Values.answers.tls.caSecretName }}
- {name: SIBYL_CA_FILE, value: /etc/sibyl/ca/ca.crt}
{{- end }}
{{- end -}}

{{/* Home and temporary files lie on the one place that can be written. */}}
{{- define "sibyl.homeEnv" -}}
- {name: HOME, value: /tmp}
- {name: TMPDIR, value: /tmp}
{{- end -}}

{{- define "sibyl.userEnv" -}}
{{- range . }}
- name: {{ .name | toJson }}
{{- if .valueFrom }}
  valueFrom: {{- toYaml .valueFrom | nindent 4 }}
{{- else }}
  value: {{ include "sibyl.literal" (default "" .value) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "sibyl.caMount" -}}
{{- if .Values.answers.tls.caSecretName }}
- {name: ca, mountPath: /etc/sibyl/ca, readOnly: true}
{{- end }}
{{- end -}}

{{- define "sibyl.caVolume" -}}
{{- with .Values.answers.tls.caSecretName }}
- name: ca
  secret: {secretName: {{ . | toJson }}, items: [{key: ca.crt, path: ca.crt}]}
{{- end }}
{{- end -}}
