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

{{/* A port of rooms' media, which pages reach at every address. Takes the root and the port's name. */}}
{{- define "onair.roomMediaPort" -}}
{{- $name := index . 1 -}}
{{- $port := int (index (index . 0).Values.rooms.media $name) -}}
{{- $low := and (lt $port 10000) (not (has $port (list 7881 7882))) -}}
{{- if or $low (and (ge $port 10248) (le $port 10260)) (has $port (list 27017 51820 51821)) -}}
{{- fail (printf "rooms.media.%s: must not be %d: pages reach this port at every address, and other programs listen there: 7881, 7882, or from 10000 but for 10248 to 10260, 27017, 51820 and 51821" $name $port) -}}
{{- end -}}
{{ $port }}
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

{{/* Settings of the built-in livekit-server. Its keys are in the Secret onair-rooms, which is mounted. */}}
{{- define "onair.livekitConfig" -}}
{{- $media := .Values.rooms.media -}}
{{- $several := gt (int .Values.rooms.replicas) 1 -}}
{{- if and $several (ne $media.exposure "HostNetwork") -}}
{{- fail "rooms.replicas: more than one needs rooms.media.exposure HostNetwork, as each has an address of its own" -}}
{{- end -}}
{{- if and $several (not .Values.rooms.redis.address) (not (hasKey .Values.rooms.config "redis")) -}}
{{- fail "rooms.redis.address: must name a Redis that nodes reach, as rooms.replicas is above 1" -}}
{{- end -}}
{{- $rtc := dict "udp_port" (int $media.udpPort) "tcp_port" (int $media.tcpPort) "use_external_ip" $media.useExternalIp -}}
{{- $hook := printf "http://onair-api.%s.svc/internal/rooms/webhook" .Release.Namespace -}}
{{- $settings := dict "port" 7880 "key_file" "/etc/onair-keys/keys.yaml" "rtc" $rtc "room" (dict "auto_create" false "sync_streams" true) -}}
{{- $settings = merge $settings (dict "webhook" (dict "api_key" "onair" "urls" (list $hook))) -}}
{{- $settings = merge $settings (dict "logging" (dict "json" true "level" (lower .Values.rooms.logLevel))) -}}
{{- /* What participants may say of themselves, which everybody in the room is sent: as much as the operator leaves */ -}}
{{- $settings = merge $settings (dict "limit" (dict "max_metadata_size" 20480 "max_attributes_size" 4096)) -}}
{{- with .Values.rooms.redis.address -}}
{{- $settings = merge $settings (dict "redis" (dict "address" .)) -}}
{{- end -}}
{{- if eq $media.exposure "HostNetwork" -}}
{{- /* Not of the node's other addresses: those to its pods may be on many interfaces at once, and it ends */ -}}
{{- $_ := set $rtc "ips" (dict "includes" (list "$(HOST_CIDR)")) -}}
{{- end -}}
{{- if .Values.rooms.turn.enabled -}}
{{- $settings = merge $settings (dict "turn" (include "onair.turnConfig" . | fromYaml)) -}}
{{- end -}}
{{- merge (deepCopy .Values.rooms.config) $settings | toYaml -}}
{{- end }}

{{/* Ports of TURN: {"tls", "udp"}; 0 is none. Over UDP participants are given the server's own address. */}}
{{- define "onair.turnPorts" -}}
{{- $turn := .Values.rooms.turn -}}
{{- $udp := eq .Values.rooms.media.exposure "Cluster" | ternary 0 (int $turn.udpPort) -}}
{{- dict "tls" (int $turn.tlsPort) "udp" $udp | toJson -}}
{{- end }}

{{/* The TURN part of the built-in livekit-server's settings. */}}
{{- define "onair.turnConfig" -}}
{{- $turn := .Values.rooms.turn -}}
{{- $ports := include "onair.turnPorts" . | fromJson -}}
{{- if not $turn.domain -}}
{{- fail "rooms.turn.domain: must be the name that participants reach the TURN server by" -}}
{{- end -}}
{{- if not (or $ports.tls $ports.udp) -}}
{{- fail "rooms.turn.tlsPort: must be a port: without it, there is none" -}}
{{- end -}}
{{- if and $ports.tls (not $turn.tlsSecret) (not $turn.externalTls) -}}
{{- fail "rooms.turn.tlsSecret: must name the Secret with the certificate of rooms.turn.domain, unless rooms.turn.externalTls is set" -}}
{{- end -}}
{{- if and $turn.tlsSecret $turn.externalTls -}}
{{- fail "rooms.turn.tlsSecret: conflicts with rooms.turn.externalTls: leave one of them empty" -}}
{{- end -}}
{{- if and $turn.internalRanges (eq .Values.rooms.media.exposure "HostNetwork") -}}
{{- fail "rooms.turn.internalRanges: network policies do not bind pods of the host's network: use a firewall" -}}
{{- end -}}
enabled: true
domain: {{ $turn.domain | quote }}
tls_port: {{ $ports.tls | int }}
udp_port: {{ $ports.udp | int }}
external_tls: {{ $turn.externalTls }}
{{- if $turn.tlsSecret }}
cert_file: /etc/onair-turn/tls.crt
key_file: /etc/onair-turn/tls.key
{{- end }}
{{- end }}
