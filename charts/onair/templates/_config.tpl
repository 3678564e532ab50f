{{/* The operator's settings, see onair_operator/settings.py. Every string is quoted. */}}
{{- define "onair.operatorConfig" -}}
{{- with .Values.operator.leaderElection }}
{{- if gt (mulf 3 .renewIntervalSeconds) (float64 .leaseDurationSeconds) }}
{{- fail "operator.leaderElection.renewIntervalSeconds: must be at most a third of leaseDurationSeconds, or one late renewal loses the lease" }}
{{- end }}
{{- end -}}
{{- $regions := list }}
{{- range .Values.regions }}
{{- if has .name $regions }}
{{- fail (printf "regions: %q is there twice, and names must differ" .name) }}
{{- end }}
{{- $regions = append $regions .name }}
{{- end -}}
showNamespace: {{ include "onair.showNamespace" . | quote }}
releaseNamespace: {{ .Release.Namespace | quote }}
keysNamespace: {{ include "onair.keysNamespace" . | quote }}
rendererUrl: {{ .Values.rendererUrl | default "http://127.0.0.1:8450/compositor/" | quote }}
rendererBaseUrl: {{ .Values.rendererBaseUrl | quote }}
redirectedHosts: {{ .Values.redirectedHosts | toJson }}
facadeUrl: {{ printf "http://onair-api.%s.svc" .Release.Namespace | quote }}
tokenIssuer: {{ .Values.api.tokens.issuer | quote }}
inside: {{ include "onair.insideRules" . }}
regions: {{ .Values.regions | toJson }}
encoder:
  image: {{ include "onair.image" (dict "root" . "name" "encoder") | quote }}
  imagePullPolicy: {{ .Values.images.pullPolicy }}
  imagePullSecrets: {{ .Values.images.pullSecrets | toJson }}
  {{- with .Values.encoder.priorityClass.name }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  nodeSelector: {{ .Values.encoder.nodeSelector | toJson }}
  tolerations: {{ .Values.encoder.tolerations | toJson }}
  terminationGracePeriodS: {{ .Values.encoder.terminationGracePeriodSeconds | int }}
  maxWidth: {{ .Values.encoder.maxWidth | int }}
  maxHeight: {{ .Values.encoder.maxHeight | int }}
  labels: {{ .Values.encoder.labels | toJson }}
  podAnnotations: {{ .Values.encoder.podAnnotations | toJson }}
  authoritiesConfigMap: {{ .Values.encoder.authoritiesConfigMap | quote }}
  sandbox: {{ include "onair.sandboxConfig" . }}
  network:
    rules: {{ .Values.encoder.network.rules }}
    nameServers: {{ .Values.encoder.network.nameServers | toJson }}
    {{- if .Values.rooms.enabled }}
    roomUdpPort: {{ include "onair.roomMediaPort" (list . "udpPort") }}
    roomTcpPort: {{ include "onair.roomMediaPort" (list . "tcpPort") }}
    {{- end }}
  cost:
    baseMillicores: {{ .Values.encoder.cost.baseMillicores | int }}
    shareMillicores: {{ .Values.encoder.cost.shareMillicores | int }}
    complexityStep: {{ .Values.encoder.cost.complexityStep }}
    browserMemoryMib: {{ .Values.encoder.cost.browserMemoryMib | int }}
    browserLimitFactor: {{ .Values.encoder.cost.browserLimitFactor }}
    browserLimitMillicores: {{ .Values.encoder.cost.browserLimitMillicores | int }}
    encoderMemoryMib: {{ .Values.encoder.cost.encoderMemoryMib | int }}
    exclusiveCpus: {{ .Values.encoder.cost.exclusiveCpus }}
broadcast:
  retentionS: {{ .Values.broadcast.retentionSeconds | int64 }}
  stopGraceS: {{ .Values.broadcast.stopGraceSeconds }}
  pageTimeoutS: {{ .Values.broadcast.pageTimeoutSeconds }}
  containerTimeoutS: {{ .Values.broadcast.containerTimeoutSeconds }}
  maxLosses: {{ .Values.broadcast.maxLosses | int }}
triggers:
  startPatienceS: {{ .Values.triggers.startPatienceSeconds }}
  stopPatienceS: {{ .Values.triggers.stopPatienceSeconds }}
quotas:
  {{- range $scope := list "perService" "perUser" }}
  {{ $scope }}:
    {{- with index $.Values.api.quotas $scope }}
    broadcasts: {{ .broadcasts | int64 }}
    pixelsPerSecond: {{ .pixelsPerSecond | int64 }}
    {{- end }}
  {{- end }}
{{- $providers := list }}
{{- range $index, $provider := .Values.rtc.providers }}
{{- $credentials := printf "/etc/onair-rtc/%d" $index }}
{{- $providers = append $providers (merge (dict "credentials" $credentials) (omit $provider "secret")) }}
{{- end }}
rtc:
  providers: {{ $providers | toJson }}
ingest:
  rtmpBaseUrl: {{ .Values.ingest.rtmp.baseUrl | quote }}
  srtBaseUrl: {{ .Values.ingest.srt.baseUrl | quote }}
  services: {{ (include "onair.ingestServicesToFind" . | fromJson).services | toJson }}
  gateways: {{ (include "onair.ingestGateways" . | fromJson).gateways | toJson }}
{{ include "onair.roomsConfig" . }}
redis: {builtIn: {{ .Values.redis.enabled }}}
receiver: {hosts: {{ (include "onair.receiverHosts" . | fromJson).hosts | toJson }}}
leaderElection:
  leaseDurationS: {{ .Values.operator.leaderElection.leaseDurationSeconds }}
  renewIntervalS: {{ .Values.operator.leaderElection.renewIntervalSeconds }}
resyncIntervalS: {{ .Values.operator.resyncIntervalSeconds }}
logLevel: {{ .Values.operator.logLevel }}
{{- end }}

{{/* The facade's settings, see onair_api/settings.py. */}}
{{- define "onair.apiConfig" -}}
listen: {metricsPort: 9090, docs: {{ .Values.api.docs }}, grpcPort: {{ .Values.api.grpc.enabled | ternary 8082 "null" }}}
publicUrl: {{ .Values.api.publicUrl | quote }}
rendererBaseUrl: {{ .Values.rendererBaseUrl | quote }}
redirectedHosts: {{ .Values.redirectedHosts | toJson }}
showNamespace: {{ include "onair.showNamespace" . | quote }}
releaseNamespace: {{ .Release.Namespace | quote }}
keysNamespace: {{ include "onair.keysNamespace" . | quote }}
inside: {{ include "onair.insideRules" . }}
cors:
  origins: {{ .Values.api.cors.origins | toJson }}
limits:
  bodyBytes: {{ .Values.api.limits.bodyBytes | int64 }}
  metadataBytes: {{ .Values.api.limits.metadataBytes | int64 }}
  idleConnections: {{ .Values.api.limits.idleConnections | int64 }}
rateLimits:
  windowS: {{ .Values.api.rateLimits.windowSeconds | int64 }}
  perToken: {{ .Values.api.rateLimits.perToken | int64 }}
  perService: {{ .Values.api.rateLimits.perService | int64 }}
quotas:
  {{- range $scope := list "perService" "perUser" }}
  {{ $scope }}:
    {{- range $name, $limit := index $.Values.api.quotas $scope }}
    {{ $name }}: {{ $limit | int64 }}
    {{- end }}
  {{- end }}
{{- with .Values.api.events }}
events:
  prefix: {{ .prefix | quote }}
  payloadBytes: {{ .payloadBytes | int64 }}
  subscriptionsPerSession: {{ .subscriptionsPerSession | int64 }}
  namesPerToken: {{ .namesPerToken | int64 }}
  wildcardsPerToken: {{ .wildcardsPerToken | int64 }}
  wildcardsPerAudience: {{ .wildcardsPerAudience | int64 }}
  sessionsPerToken: {{ .sessionsPerToken | int64 }}
  bytesPerOwnerS: {{ .ownerBytesPerSecond | int64 }}
  backlogEvents: {{ .backlog.events | int64 }}
  backlogBytes: {{ .backlog.bytes | int64 }}
  stalledAfterS: {{ .stalledAfterSeconds }}
  heartbeatS: {{ .heartbeatSeconds }}
  reconnectLeadS: {{ .reconnectLeadSeconds }}
  drainS: {{ .drainSeconds }}
  replayS: {{ .replay.seconds }}
  replayEvents: {{ .replay.events | int64 }}
  replayBytes: {{ .replay.bytes | int64 }}
  redisBytes: {{ .replay.redisBytes | int64 }}
  redisServiceBytes: {{ .replay.redisServiceBytes | int64 }}
{{- end }}
tokens:
  issuer: {{ .Values.api.tokens.issuer | quote }}
  defaultDurationMs: {{ .Values.api.tokens.defaultDurationMs | int64 }}
  exchangeDurationMs: {{ .Values.api.tokens.exchangeDurationMs | int64 }}
guestLinks: {{ .Values.api.guestLinks | toJson }}
ingest:
  rtmpBaseUrl: {{ .Values.ingest.rtmp.baseUrl | quote }}
  srtBaseUrl: {{ .Values.ingest.srt.baseUrl | quote }}
  found: {{ not (empty (include "onair.ingestServicesToFind" . | fromJson).services) }}
  gateways:
    {{- range (include "onair.ingestGateways" . | fromJson).gateways }}
    - {{ omit . "region" | toJson }}
    {{- else }} []
    {{- end }}
  hookPort: {{ if .Values.ingest.enabled }}8449{{ else }}null{{ end }}
{{ include "onair.roomsConfig" . }}
  tokenS: {{ .Values.rooms.tokenSeconds | int }}
redis:
  url: {{ include "onair.redisUrl" . | default nil | toJson }}
  urlFile: {{ .Values.redis.urlSecret.name | empty | ternary nil "/run/onair/redis/url" | toJson }}
  {{- if .Values.redis.enabled }}
  passwordFile: /run/onair/redis/password
  caFile: {{ .Values.redis.tls.secret | empty | ternary nil "/etc/onair-redis-tls/ca.crt" | toJson }}
  {{- else if .Values.redis.caSecret.name }}
  caFile: /etc/onair-redis-tls/ca.crt
  {{- end }}
  keyPrefix: {{ .Values.redis.keyPrefix | quote }}
logLevel: {{ .Values.api.logLevel }}
{{- end }}

{{/* A Service's port by each of its names: {"hosts": [host and port]}. */}}
{{- define "onair.hostsOf" -}}
{{- $hosts := list }}
{{- range $domain := list "svc" "svc.cluster.local" }}
{{- $hosts = append $hosts (printf "%s.%s.%s:%s" $.service $.root.Release.Namespace $domain $.port) }}
{{- end }}
{{- dict "hosts" $hosts | toJson }}
{{- end }}

{{/* Where the built-in MediaMTX takes streams, if there is one: {"hosts": [host and port]}. */}}
{{- define "onair.receiverHosts" -}}
{{- if .Values.mediamtx.enabled -}}
{{ include "onair.hostsOf" (dict "root" . "service" "onair-mediamtx" "port" "1935") }}
{{- else -}}
{"hosts": []}
{{- end -}}
{{- end }}

{{/* Which urls of tenants lead inside; what is installed to be tried first is allowed. */}}
{{- define "onair.insideRules" -}}
{{- $hosts := .Values.inside.allowedHosts }}
{{- if .Values.demo.enabled }}
{{- $hosts = concat $hosts (include "onair.hostsOf" (dict "root" . "service" "onair-demo" "port" "80") | fromJson).hosts }}
{{- end }}
{{- $hosts = concat $hosts (include "onair.receiverHosts" . | fromJson).hosts }}
{{- dict "refused" .Values.inside.refused "allowedHosts" ($hosts | default list) "allowedRanges" .Values.inside.allowedRanges "refusedRanges" .Values.inside.refusedRanges | toJson }}
{{- end }}

{{/*
MediaMTX takes streams with one password and serves them with another; a second publisher of a path replaces the first.
*/}}
{{- define "onair.mediamtxConfig" -}}
# Path names are stream keys, and less severe messages name paths.
logLevel: error
api: yes
apiAddress: :9997
rtmp: yes
rtsp: yes
rtspTransports: [tcp]
hls: yes
hlsAlwaysRemux: no
hlsVariant: mpegts
hlsAllowOrigins: ["*"]
webrtc: no
srt: no
moq: no
# The hashes of passwords come by the environment, in this order; those here are of none.
authInternalUsers:
  - {user: api, pass: "sha256:none", permissions: [{action: api}]}
  - {user: publisher, pass: "sha256:none", permissions: [{action: publish}]}
  - {user: reader, pass: "sha256:none", permissions: [{action: read}]}
pathDefaults:
  overridePublisher: yes
paths:
  all_others:
{{- end }}
