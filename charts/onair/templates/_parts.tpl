{{/* Labels of every object. */}}
{{- define "onair.labels" -}}
app.kubernetes.io/part-of: onair
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- with .component }}
app.kubernetes.io/name: onair-{{ . }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{/* Labels that select the pods of a component. */}}
{{- define "onair.selector" -}}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "onair.image" -}}
{{- $image := index .root.Values.images .name -}}
{{ $image.repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* What every pod of ours has: no rights, a root that cannot be written. */}}
{{- define "onair.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "onair.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "onair.showNamespace" -}}
{{- if eq .Values.showNamespace.name .Release.Namespace -}}
{{- fail (printf "showNamespace.name: must not be the release's own namespace %q: shows live apart from signing keys" .Release.Namespace) -}}
{{- end -}}
{{ .Values.showNamespace.name }}
{{- end }}

{{- define "onair.redisUrl" -}}
{{- if .Values.redis.enabled -}}
redis://onair-redis.{{ .Release.Namespace }}.svc:6379/0
{{- else -}}
{{ .Values.redis.url }}
{{- end -}}
{{- end }}

{{- define "onair.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}
