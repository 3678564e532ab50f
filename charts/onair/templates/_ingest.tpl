{{/* Names of the ingest StatefulSets and their regions, the default region first: {"sets": [{name, region}]}. */}}
{{- define "onair.ingestSets" -}}
{{- $sets := list }}
{{- range .Values.regions }}
{{- $sets = append $sets (dict "name" (printf "onair-ingest-%s" .name) "region" .name) }}
{{- end }}
{{- dict "sets" ($sets | default (list (dict "name" "onair-ingest" "region" ""))) | toJson }}
{{- end }}

{{/* The gateways of all replicas, for the operator: {"gateways": [{name, region, url}]}. */}}
{{- define "onair.ingestGateways" -}}
{{- $gateways := list }}
{{- if .Values.ingest.enabled }}
{{- $replicas := .Values.ingest.replicas | int }}
{{- $namespace := .Release.Namespace }}
{{- range (include "onair.ingestSets" . | fromJson).sets }}
{{- $set := . }}
{{- range $number := until $replicas }}
{{- $pod := printf "%s-%d" $set.name $number }}
{{- $url := printf "http://%s.onair-ingest-gateways.%s.svc:8448" $pod $namespace }}
{{- $gateways = append $gateways (dict "name" $pod "region" $set.region "url" $url) }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "gateways" $gateways | toJson }}
{{- end }}

{{/*
Services that publishers come by, that of all regions first: {"services": [{name, region}]}.
*/}}
{{- define "onair.ingestServices" -}}
{{- $services := list (dict "name" "onair-ingest" "region" "") }}
{{- if .Values.ingest.service.perRegion }}
{{- if not .Values.regions }}
{{- fail "ingest.service.perRegion: needs regions" }}
{{- end }}
{{- range .Values.ingest.service.nodePorts }}
{{- if int . }}
{{- fail "ingest.service.nodePorts: must be 0 with perRegion, as each Service has ports of its own" }}
{{- end }}
{{- end }}
{{- range (include "onair.ingestSets" . | fromJson).sets }}
{{- $services = append $services . }}
{{- end }}
{{- end }}
{{- dict "services" $services | toJson }}
{{- end }}

{{/*
Services whose addresses the operator looks for, as no value gives them: {"services": [{name, region}]}. Within the
cluster they are known by their names.
*/}}
{{- define "onair.ingestServicesToFind" -}}
{{- $given := and .Values.ingest.rtmp.baseUrl .Values.ingest.srt.baseUrl }}
{{- if or $given (not .Values.ingest.enabled) (eq .Values.ingest.service.type "ClusterIP") -}}
{"services": []}
{{- else -}}
{{ include "onair.ingestServices" . }}
{{- end -}}
{{- end }}

{{/* The gateway's settings, see onair_ingest/settings.py. */}}
{{- define "onair.ingestConfig" -}}
silentAfterS: {{ .Values.ingest.silentAfterSeconds }}
hook:
  facadeUrl: http://onair-api-ingest.{{ .Release.Namespace }}.svc:8449
pulls:
  allowedRanges: {{ .Values.ingest.pulls.allowedRanges | toJson }}
  refusedRanges: {{ .Values.ingest.pulls.refusedRanges | toJson }}
previews:
  most: {{ .Values.ingest.previews.most }}
logLevel: {{ .Values.ingest.logLevel }}
{{- end }}
