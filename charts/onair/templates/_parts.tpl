{{/* Labels of every object: (dict "root" . "component" "api"). */}}
{{- define "onair.labels" -}}
{{ include "onair.podLabels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* Labels of pods: without versions, so that a new version of the chart alone restarts nothing. */}}
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

{{/* Where the pods of a component run: by its values, its copies on different nodes where there are such. */}}
{{- define "onair.placing" -}}
{{- $values := index .root.Values .component -}}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "onair.selector" . | nindent 14 }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "onair.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* A budget for a component with more than one copy: a drain takes one after the other. */}}
{{- define "onair.disruptionBudget" -}}
{{- if gt (int (index .root.Values .component).replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: onair-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "onair.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "onair.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{- define "onair.showNamespace" -}}
{{- if eq .Values.showNamespace.name .Release.Namespace -}}
{{- fail (printf "showNamespace.name: must not be the release's own namespace %q: shows live apart from signing keys" .Release.Namespace) -}}
{{- end -}}
{{ .Values.showNamespace.name }}
{{- end }}

{{/* Address of Redis; empty where there is none, or where a Secret has it. */}}
{{- define "onair.redisUrl" -}}
{{- if .Values.redis.enabled -}}
{{- if or .Values.redis.url .Values.redis.urlSecret.name -}}
{{- fail "redis.url: names another Redis beside the built-in one: set redis.enabled to false too" -}}
{{- end -}}
redis://onair-redis.{{ .Release.Namespace }}.svc:6379/0
{{- else -}}
{{- if and .Values.redis.url .Values.redis.urlSecret.name -}}
{{- fail "redis.url: is given twice, here and by redis.urlSecret: leave one empty" -}}
{{- end -}}
{{ .Values.redis.url }}
{{- end -}}
{{- end }}

{{- define "onair.rendererUrl" -}}
{{- if .Values.rendererUrl -}}
{{ .Values.rendererUrl }}
{{- else if .Values.demo.enabled -}}
http://onair-demo.{{ .Release.Namespace }}.svc/
{{- else -}}
http://onair-api.{{ .Release.Namespace }}.svc/renderer
{{- end -}}
{{- end }}
