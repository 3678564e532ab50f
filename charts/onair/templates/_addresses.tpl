{{/* Namespace of shows; fails if it is the release's own. */}}
{{- define "onair.showNamespace" -}}
{{- if eq .Values.showNamespace.name .Release.Namespace -}}
{{- fail (printf "showNamespace.name: must not be the release's own namespace %q: shows must be kept apart from signing keys" .Release.Namespace) -}}
{{- end -}}
{{ .Values.showNamespace.name }}
{{- end }}

{{/* Namespace of API keys and of keys that sign tokens; fails if it is that of shows. */}}
{{- define "onair.keysNamespace" -}}
{{- $name := .Values.keysNamespace.name | default .Release.Namespace -}}
{{- if eq $name (include "onair.showNamespace" .) -}}
{{- fail (printf "keysNamespace.name: must not be the namespace of shows %q: keys must be kept apart from them" $name) -}}
{{- end -}}
{{ $name }}
{{- end }}

{{/* URL of Redis; empty if there is none or a Secret holds it. */}}
{{- define "onair.redisUrl" -}}
{{- if .Values.redis.enabled -}}
{{- if or .Values.redis.url .Values.redis.urlSecret.name -}}
{{- fail "redis.url: conflicts with the built-in Redis: set redis.enabled to false" -}}
{{- end -}}
{{- if .Values.redis.caSecret.name -}}
{{- fail "redis.caSecret: is of an existing Redis; the built-in one has its CA's certificate in redis.tls.secret" -}}
{{- end -}}
{{ not (empty .Values.redis.tls.secret) | ternary "rediss" "redis" }}://onair-redis.{{ .Release.Namespace }}.svc:6379/0
{{- else -}}
{{- if and .Values.redis.url .Values.redis.urlSecret.name -}}
{{- fail "redis.url: conflicts with redis.urlSecret: leave one of them empty" -}}
{{- end -}}
{{- if not (or .Values.redis.url .Values.redis.urlSecret.name) -}}
{{- fail "redis.url: must name an existing Redis, or redis.urlSecret a Secret with its URL, as redis.enabled is false" -}}
{{- end -}}
{{- if and .Values.redis.caSecret.name (hasPrefix "redis://" .Values.redis.url) -}}
{{- fail "redis.caSecret: needs a rediss:// URL, as there is no TLS with redis.url" -}}
{{- end -}}
{{ .Values.redis.url }}
{{- end -}}
{{- end }}

{{/* Ranges as policies can except them, which is everything only by halves: {"ranges": [range]}. Argument: the range. */}}
{{- define "onair.exceptions" -}}
{{- $ranges := list . }}
{{- if hasSuffix "/0" . }}
{{- $ranges = contains ":" . | ternary (list "::/1" "8000::/1") (list "0.0.0.0/1" "128.0.0.0/1") }}
{{- end }}
{{- dict "ranges" $ranges | toJson }}
{{- end }}

{{/* What an IPv4 range is where IPv6 is translated to it (NAT64). Argument: the range. */}}
{{- define "onair.nat64" -}}
{{- $address := splitList "/" . | first | splitList "." }}
{{- $groups := list }}
{{- range list 0 2 }}
{{- $groups = append $groups (add (index $address . | int | mul 256) (index $address (add1 . | int) | int) | printf "%x") }}
{{- end }}
{{- printf "64:ff9b::%s/%d" (join ":" $groups) (splitList "/" . | last | int | add 96) }}
{{- end }}
