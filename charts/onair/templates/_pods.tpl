{{- define "onair.image" -}}
{{- $image := index .root.Values.images .name -}}
{{- $tag := $image.tag | default .root.Chart.AppVersion }}
{{- with $image.digest }}
{{- $tag = printf "%s@%s" (splitList "@" $tag | first) . }}
{{- end -}}
{{ $image.repository }}:{{ $tag }}
{{- end }}

{{/* Annotations of pods, which restart when their configuration changes. */}}
{{- define "onair.podAnnotations" -}}
{{- merge (dict "checksum/config" (.config | sha256sum | trunc 16)) .values.podAnnotations | toYaml }}
{{- end }}

{{/* Security contexts of every pod and container: unprivileged, with a read-only root file system. */}}
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

{{/* Scheduling of a component's pods: replicas spread over zones and nodes; soon away from a node that fails. */}}
{{- define "onair.scheduling" -}}
{{- $values := index .root.Values .component -}}
topologySpreadConstraints:
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    # Rather two on one node than one
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "onair.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- $region := dict }}
{{- with .region }}
{{- $region = dict "topology.kubernetes.io/region" . }}
{{- end }}
{{- with merge $region $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
{{- range list "not-ready" "unreachable" }}
  - key: node.kubernetes.io/{{ . }}
    operator: Exists
    effect: NoExecute
    tolerationSeconds: {{ $.root.Values.scheduling.nodeFailureSeconds }}
{{- end }}
{{- with $values.tolerations }}
{{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
Init container that puts what only the pod knows into the settings of a server, at /run/onair/settings/<file>: no
Secret is in an environment. `image` has Python; `secret`: {name, key} of the Secret, if any, `setting`: where its text
goes.
*/}}
{{- define "onair.serverSettings" -}}
- name: settings
  image: {{ include "onair.image" (dict "root" .root "name" .image) }}
  imagePullPolicy: {{ .root.Values.images.pullPolicy }}
  command:
    - python3
    - -m
    - onair_crds.runtime.server_settings
    - /etc/onair/{{ .file }}
    - /run/onair/settings/{{ .file }}
    {{- if .secret.name }}
    - {{ .setting }}=/run/onair/secret/text
    {{- end }}
  env:
    - {name: HOST_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
  resources: {{- .resources | toYaml | nindent 4 }}
  securityContext: {{- include "onair.containerSecurity" .root | nindent 4 }}
  volumeMounts:
    - {name: config, mountPath: /etc/onair, readOnly: true}
    {{- if .secret.name }}
    - {name: settings-secret, mountPath: /run/onair/secret, readOnly: true}
    {{- end }}
    - {name: settings, mountPath: /run/onair/settings}
{{- end }}

{{- define "onair.serverSettingsVolumes" -}}
- {name: settings, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
{{- if .secret.name }}
- {name: settings-secret, secret: {secretName: {{ .secret.name }}, items: [{key: {{ .secret.key }}, path: text}], defaultMode: 0440}}
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

{{/* PodDisruptionBudget of a component that may have more than one replica: a drain evicts one pod at a time. */}}
{{- define "onair.disruptionBudget" -}}
{{- $replicas := (index .root.Values .component).replicas }}
{{- if or (kindIs "invalid" $replicas) (gt (int $replicas) 1) }}
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

{{/* Where the built-in Redis and the HTTP interface have its password, and its certificate and its CA's. */}}
{{- define "onair.redisMounts" -}}
{{- if .password }}
- {name: redis, mountPath: /run/onair/redis, readOnly: true}
{{- end }}
{{- if .tls }}
- {name: redis-tls, mountPath: /etc/onair-redis-tls, readOnly: true}
{{- end }}
{{- end }}

{{- define "onair.redisVolumes" -}}
{{- if .password }}
# Made by the operator
- {name: redis, secret: {secretName: onair-redis, items: [{key: {{ .password }}, path: {{ .password }}}], defaultMode: 0440}}
{{- end }}
{{- with .tls }}
- {name: redis-tls, secret: {secretName: {{ . }}, items: {{ $.files | toJson }}, defaultMode: 0440}}
{{- end }}
{{- end }}
