{{/* Labels of every object. Argument: (dict "root" . "component" "api"). */}}
{{- define "onair.labels" -}}
{{ include "onair.podLabels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* Labels of pods: without versions, so that a new chart version alone restarts no pod. */}}
{{- define "onair.podLabels" -}}
app.kubernetes.io/part-of: onair
app.kubernetes.io/instance: {{ .root.Release.Name }}
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
