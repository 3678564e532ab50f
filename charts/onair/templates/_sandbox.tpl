{{/* The seccomp profile of the browser's container. Its hash is in all its names: containers of pods that run start
again with the profile that they had. */}}
{{- define "onair.seccompProfile" -}}
chromium-{{ .Files.Get "files/seccomp/chromium.json" | sha256sum | trunc 12 }}
{{- end }}

{{/* The label of nodes that have it, and on which Chromium's sandbox works. */}}
{{- define "onair.sandboxLabel" -}}
sandbox.onair.dev/{{ include "onair.seccompProfile" . }}
{{- end }}

{{/* The operator's settings, see SandboxSettings. */}}
{{- define "onair.sandboxConfig" -}}
{{- with .Values.encoder.sandbox }}
{{- if and (eq .mode "runtimeClass") (not .runtimeClassName) }}
{{- fail "encoder.sandbox.runtimeClassName: must name a RuntimeClass, as encoder.sandbox.mode is runtimeClass" }}
{{- end }}
{{- if and (ne .mode "runtimeClass") .runtimeClassName }}
{{- fail "encoder.sandbox.runtimeClassName: must be empty, unless encoder.sandbox.mode is runtimeClass" }}
{{- end }}
{{- if has .namespace (list $.Release.Namespace (include "onair.showNamespace" $)) }}
{{- fail "encoder.sandbox.namespace: must not be the release's own nor the show namespace: its pods write to nodes" }}
{{- end }}
{{- dict "mode" .mode "localhostProfile" (printf "onair/%s.json" (include "onair.seccompProfile" $)) "nodeLabel" (include "onair.sandboxLabel" $) "runtimeClassName" .runtimeClassName | toJson }}
{{- end }}
{{- end }}
