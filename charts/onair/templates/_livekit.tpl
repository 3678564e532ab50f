{{/* URL of the server of hosted rooms; empty if there is none. */}}
{{- define "onair.roomsUrl" -}}
{{- if .Values.rooms.enabled -}}
{{- if .Values.rooms.url -}}
{{- fail "rooms.url: conflicts with the built-in livekit-server: set rooms.enabled to false" -}}
{{- end -}}
http://onair-livekit.{{ .Release.Namespace }}.svc:7880
{{- else -}}
{{- if and .Values.rooms.url (not .Values.rooms.secret.name) -}}
{{- fail "rooms.secret.name: must name the Secret with the credentials of rooms.url" -}}
{{- end -}}
{{ .Values.rooms.url }}
{{- end -}}
{{- end }}

{{/* The rooms part of the settings of operator and HTTP interface. */}}
{{- define "onair.roomsConfig" -}}
rooms:
  url: {{ include "onair.roomsUrl" . | quote }}
  {{- with .Values.rooms }}
  secret:
    name: {{ .enabled | ternary "onair-rooms" (.secret.name | default "onair-rooms") | quote }}
    apiKey: {{ .enabled | ternary "apiKey" .secret.apiKey | quote }}
    apiSecret: {{ .enabled | ternary "apiSecret" .secret.apiSecret | quote }}
  {{- end }}
{{- end }}

{{/* Settings of the built-in livekit-server. Its keys are in the Secret onair-rooms. */}}
{{- define "onair.livekitConfig" -}}
{{- $media := .Values.rooms.media -}}
{{- $several := gt (int .Values.rooms.replicas) 1 -}}
{{- if and $several (ne $media.exposure "HostNetwork") -}}
{{- fail "rooms.replicas: more than one needs rooms.media.exposure HostNetwork, as each has an address of its own" -}}
{{- end -}}
{{- if and $several (not (hasKey .Values.rooms.config "redis")) -}}
{{- fail "rooms.config.redis: must name a Redis that nodes reach, as rooms.replicas is above 1" -}}
{{- end -}}
{{- $rtc := dict "udp_port" (int $media.udpPort) "tcp_port" (int $media.tcpPort) "use_external_ip" $media.useExternalIp -}}
{{- $hook := printf "http://onair-api.%s.svc/internal/rooms/webhook" .Release.Namespace -}}
{{- $settings := dict "port" 7880 "rtc" $rtc "room" (dict "auto_create" false "sync_streams" true) -}}
{{- $settings = merge $settings (dict "webhook" (dict "api_key" "onair" "urls" (list $hook))) -}}
{{- $settings = merge $settings (dict "logging" (dict "json" true "level" (lower .Values.rooms.logLevel))) -}}
{{- merge (deepCopy .Values.rooms.config) $settings | toYaml -}}
{{- end }}
