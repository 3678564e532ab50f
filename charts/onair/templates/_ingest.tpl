{{/* Names of the ingest StatefulSets and their regions, the default region first: {"sets": [{name, region}]}. */}}
{{- define "onair.ingestSets" -}}
{{- $sets := list }}
{{- range empty .Values.ingest.existing.apiUrl | ternary .Values.regions list }}
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
Services that publishers come by, those of all regions first: {"services": [{name, region, protocol}]}; `protocol` is
that of all their ports, and empty where they have those of both.
*/}}
{{- define "onair.ingestServices" -}}
{{- $services := empty .Values.ingest.existing.apiUrl | ternary (list (dict "name" "onair-ingest" "region" "")) list }}
{{- if and $services .Values.ingest.service.perRegion }}
{{- if not .Values.regions }}
{{- fail "ingest.service.perRegion: needs regions" }}
{{- end }}
{{- range .Values.ingest.service.nodePorts }}
{{- if int . }}
{{- fail "ingest.service.nodePorts: must be 0 with perRegion, as each Service has ports of its own" }}
{{- end }}
{{- end }}
{{- range (include "onair.ingestSets" . | fromJson).sets }}
{{- if eq .region "gateways" }}
{{- fail "ingest.service.perRegion: a region cannot be named gateways, as the Service onair-ingest-gateways is that of all gateways" }}
{{- end }}
{{- $services = append $services . }}
{{- end }}
{{- end }}
{{- if and $services .Values.ingest.service.perProtocol }}
{{- if eq .Values.ingest.service.type "ClusterIP" }}
{{- fail "ingest.service.perProtocol: not with the type ClusterIP, which has both protocols at one address" }}
{{- end }}
{{- $split := list }}
{{- $names := list }}
{{- range $service := $services }}
{{- range $protocol, $suffix := dict "TCP" "" "UDP" "-srt" }}
{{- $name := print $service.name $suffix }}
{{- if has $name $names }}
{{- fail (printf "ingest.service.perProtocol: two Services would have the name %s, so a region must have another name" $name) }}
{{- end }}
{{- $names = append $names $name }}
{{- $split = append $split (merge (dict "protocol" $protocol "name" $name) $service) }}
{{- end }}
{{- end }}
{{- $services = $split }}
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
{{- $services := list }}
{{- $given := dict "TCP" .Values.ingest.rtmp.baseUrl "UDP" .Values.ingest.srt.baseUrl }}
{{- range (include "onair.ingestServices" . | fromJson).services }}
{{- if not (get $given (.protocol | default "")) }}
{{- $services = append $services (omit . "protocol") }}
{{- end }}
{{- end }}
{{- dict "services" $services | toJson }}
{{- end -}}
{{- end }}

{{/* The gateway's settings, see onair_ingest/settings.py. */}}
{{- define "onair.ingestConfig" -}}
{{- $existing := .Values.ingest.existing -}}
{{- if $existing.apiUrl -}}
{{- range $name, $value := dict "rtmpUrl" $existing.rtmpUrl "secret.name" $existing.secret.name -}}
{{- if not $value -}}
{{- fail (printf "ingest.existing.%s: must be given with ingest.existing.apiUrl" $name) -}}
{{- end -}}
{{- end -}}
{{- if not (and .Values.ingest.rtmp.baseUrl .Values.ingest.srt.baseUrl) -}}
{{- fail "ingest.rtmp.baseUrl: must say where publishers reach ingest.existing, as must ingest.srt.baseUrl" -}}
{{- end -}}
{{- if or .Values.ingest.rtmp.tlsSecret .Values.ingest.srt.passphraseSecret.name -}}
{{- fail "ingest.rtmp.tlsSecret: certificate and passphrase are configured at ingest.existing itself" -}}
{{- end -}}
{{- if ne (int .Values.ingest.replicas) 1 -}}
{{- fail "ingest.replicas: must be 1 with ingest.existing, which has one gateway" -}}
{{- end -}}
{{- end -}}
silentAfterS: {{ .Values.ingest.silentAfterSeconds }}
connectionsFile: /tmp/connections.json
{{- if $existing.apiUrl }}
mediamtx:
  apiUrl: {{ $existing.apiUrl | quote }}
  rtmpUrl: {{ $existing.rtmpUrl | quote }}
  passwordFile: /run/onair/server/password
{{- end }}
hook:
  {{- if $existing.apiUrl }}
  host: null  # all of the pod's
  {{- end }}
  facadeUrl: http://onair-api-ingest.{{ .Release.Namespace }}.svc:8449
pulls:
  enabled: {{ not $existing.apiUrl }}
inside: {{ include "onair.insideRules" . }}
previews:
  most: {{ .Values.ingest.previews.most }}
logLevel: {{ .Values.ingest.logLevel }}
{{- end }}
