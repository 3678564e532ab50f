{{/* Of what protects shows that are on air: they stay there when the release is uninstalled. */}}
{{- define "onair.kept" -}}
helm.sh/resource-policy: keep
{{- end }}

{{/*
Deletes such an object of this release where a value turns it off, which Helm by itself would keep then, too: as a hook
that Helm replaces it by, and removes. Argument: (dict "root" . "apiVersion" … "kind" … "namespace" … "name" …).
*/}}
{{- define "onair.notKept" -}}
{{- $live := lookup .apiVersion .kind .namespace .name }}
{{- $annotations := dig "metadata" "annotations" dict $live }}
{{- $release := list .root.Release.Name .root.Release.Namespace }}
{{- if eq (list (get $annotations "meta.helm.sh/release-name") (get $annotations "meta.helm.sh/release-namespace") | toJson) ($release | toJson) }}
---
apiVersion: {{ .apiVersion }}
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  annotations:
    helm.sh/hook: post-install,post-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec: {{- $live.spec | toYaml | nindent 2 }}
{{- end }}
{{- end }}

{{- define "onair.policyNotKept" -}}
{{- if semverCompare ">=1.30-0" .root.Capabilities.KubeVersion.Version }}
{{- range list "ValidatingAdmissionPolicyBinding" "ValidatingAdmissionPolicy" }}
{{- include "onair.notKept" (dict "root" $.root "apiVersion" "admissionregistration.k8s.io/v1" "kind" . "namespace" "" "name" $.name) }}
{{- end }}
{{- end }}
{{- end }}
