"""Settings of the facade: one tree, in the order of the chart's values.

`onair_crds.runtime.settings` says where they are read from.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from onair_api.redis_keys import DEFAULT_KEYS, RedisKeys
from onair_crds.contract.ingest import FoundAddresses, Ingest, cluster_ingest, found_ingest
from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.contract.redirect import REDIRECTED_HOSTS, RedirectedHost
from onair_crds.contract.renderer_token import DEFAULT_ISSUER
from onair_crds.contract.rooms import API_KEY, API_SECRET, SECRET_NAME
from onair_crds.runtime.settings import Part, ProgramSettings

MAX_TOKEN_DURATION_MS = 604_800_000


class ListenSettings(Part):
    """Where the facade listens, and how it ends."""

    host: str | None = None
    """Address to listen on. Absent: all of the pod's, IPv4 and IPv6."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8080
    """TCP port of the interface and the probes; 0 takes a free one."""
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    """TCP port of the metrics, which name all tenants' operations. Absent: that of the interface."""
    grpc_port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    """TCP port of native gRPC, HTTP/2 in the clear; 0 takes a free one. Absent: there is none."""
    docs: bool = True
    """Whether `/docs` and the OpenAPI documents are served."""
    backlog: Annotated[int, Field(ge=1)] = 2048
    """Connections that may wait to be accepted."""
    shutdown_grace_s: Annotated[float, Field(ge=0)] = 10.0
    """Seconds that running requests get after SIGTERM; keep it below the pod's grace period."""


class CorsSettings(Part):
    """Cross-origin requests of browsers."""

    origins: list[str] = ["*"]
    """Origins of browsers that may call. `*` is any: no cookies are used, so nothing is lent to a page."""
    max_age_s: Annotated[int, Field(ge=0)] = 7200
    """Seconds that a browser may keep the response to a preflight (Chromium's own cap)."""


class LimitSettings(Part):
    """Bounds of requests, resources and connections."""

    body_bytes: Annotated[int, Field(ge=1024)] = 1_048_576
    """Largest request body; a resource cannot be larger in etcd (1.5 MiB) with its managed fields."""
    metadata_bytes: Annotated[int, Field(ge=1024, le=1_048_576)] = 262_144
    """Largest `metadata` of a resource as JSON; leaves room for the rest of the resource."""
    request_metadata_bytes: Annotated[int, Field(ge=0, le=65_536)] = 16_384
    """Largest `requestMetadata`; it travels in an annotation (all of them: 256 KiB)."""
    json_depth: Annotated[int, Field(ge=8, le=200)] = 64
    """Deepest nesting of a body; far above any real one and below any parser's limit."""
    idle_connections: Annotated[int, Field(ge=16)] = 4096
    """Most connections of a replica that have no request under way; beyond that the oldest are closed."""


class RateLimitSettings(Part):
    """How many requests are allowed in a window of time."""

    window_s: Annotated[int, Field(ge=1, le=3600)] = 10
    """Length of the window that requests are counted in; those over the limit wait for its end."""
    per_token: Annotated[int, Field(ge=0)] = 3000
    """Requests of one access token in a window, over all replicas; 0 is without a limit."""
    per_service: Annotated[int, Field(ge=0)] = 30_000
    """Requests of one service's API keys and tokens in a window, over all replicas; 0 is without a limit."""


class QuotaPart(Part):
    """What one tenant may have at a time; 0 is without a limit."""

    collections: Annotated[int, Field(ge=0)]
    projects: Annotated[int, Field(ge=0)]
    destinations: Annotated[int, Field(ge=0)]
    sources: Annotated[int, Field(ge=0)]
    layouts: Annotated[int, Field(ge=0)]
    guest_codes: Annotated[int, Field(ge=0)]
    broadcasts: Annotated[int, Field(ge=0)]
    """On air, or waiting to be."""
    pixels_per_second: Annotated[int, Field(ge=0)]
    """Width × height × frame rate of all broadcasts on air; 62208000 is 1080p30."""
    metadata_bytes: Annotated[int, Field(ge=0)]
    """Of the `metadata` of all resources: about the memory that it takes, which is more than its JSON."""
    layout_bytes: Annotated[int, Field(ge=0)]
    """The same of layouts with all that is in their layers."""


class ServiceQuotaPart(QuotaPart):
    """What a service may have beyond what its users have."""

    revoked_tokens: Annotated[int, Field(ge=0)]
    """Records of them, each kept for as long as the token could last. With an API key twice as many."""


class QuotaSettings(Part):
    """What tenants may have at a time."""

    per_service: ServiceQuotaPart = ServiceQuotaPart(
        collections=10_000,
        projects=20_000,
        destinations=50_000,
        sources=10_000,
        layouts=50_000,
        guest_codes=50_000,
        broadcasts=500,
        pixels_per_second=31_104_000_000,
        metadata_bytes=268_435_456,
        layout_bytes=268_435_456,
        revoked_tokens=50_000,
    )
    """Of all users of a service together."""
    per_user: QuotaPart = QuotaPart(
        collections=1000,
        projects=2000,
        destinations=5000,
        sources=1000,
        layouts=5000,
        guest_codes=5000,
        broadcasts=50,
        pixels_per_second=3_110_400_000,
        metadata_bytes=33_554_432,
        layout_bytes=67_108_864,
    )
    """Of one user of a service, with their guests."""


class TokenSettings(Part):
    """Access tokens: who issues them, and for how long."""

    issuer: str = DEFAULT_ISSUER
    """`iss` of access tokens; tokens of another issuer are refused."""
    default_duration_ms: Annotated[int, Field(ge=1000, le=MAX_TOKEN_DURATION_MS)] = 172_800_000
    """Life of a token that asks for none (`interface.md`: 172800000)."""
    exchange_duration_ms: Annotated[int, Field(ge=1000, le=MAX_TOKEN_DURATION_MS)] = 172_800_000
    """How long a guest's token of kind `exchange` can be redeemed, if nothing else is asked for; never
    longer than its issuer's own token lasts."""
    sweep_interval_s: Annotated[float, Field(gt=0)] = 60.0
    """How often expired guest codes and redeemed tokens are deleted."""
    cache_size: Annotated[int, Field(ge=0)] = 10_000
    """Verified tokens kept, by hash, until they expire: an RSA verification costs more than a request."""


class GatewaySettings(Part):
    """A gateway of ingest, which previews are fetched from."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Of its pod, as statuses name it."""
    url: Annotated[str, Field(pattern=r"^https?://")]


class GuestLinkSettings(Part):
    """Where the urls of guest codes may lead to: they carry a token."""

    origins: list[str] = []
    """Such as `https://studio.example.org`. Empty: every one outside, by https."""
    insecure_hosts: list[str] = []
    """Hosts that may be named by http too, such as `localhost` in development."""


class IngestSettings(Part):
    """Where clients are told to push sources to, and the gateways."""

    rtmp_base_url: Annotated[str, Field(pattern=r"^(rtmps?://\S+)?$")] = ""
    """Where RTMP sources are pushed to: server and application. Empty: as found, else within the cluster."""
    srt_base_url: Annotated[str, Field(pattern=r"^(srt://\S+)?$")] = ""
    """Where SRT sources are pushed to. Empty: likewise."""
    found: bool = False
    """Whether the operator looks for addresses that no value gives, outside of the cluster."""

    gateways: list[GatewaySettings] = []
    """Of all regions. None: nothing is previewed by HLS."""
    hook_port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    """Port that gateways of ingest ask at who may publish; 0 takes a free one. Absent: nobody may."""

    def addresses(self, namespace: str, found: FoundAddresses | None = None) -> Ingest:
        """The configured addresses, else those that were found, or that the service has in the cluster."""
        default = found_ingest(found) if self.found else cluster_ingest(namespace)
        return default.with_values(self.rtmp_base_url, self.srt_base_url)


class RoomSecretSettings(Part):
    """The Secret of the release's namespace that holds the room server's credentials."""

    name: str = SECRET_NAME
    api_key: str = API_KEY
    """Its key with the API key."""
    api_secret: str = API_SECRET
    """Its key with the API secret."""


class RoomSettings(Part):
    """Hosted WebRTC rooms."""

    url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    """HTTP address of livekit-server. Empty: there are no hosted rooms."""
    secret: RoomSecretSettings = RoomSecretSettings()
    token_s: Annotated[int, Field(ge=10, le=3600)] = 300
    """How long a token admits to a room; the server renews those of participants."""


class CacheSettings(Part):
    """Timeouts of the watches that fill the cache."""

    stale_after_s: Annotated[float, Field(gt=0)] = 30.0
    """A cache that has not heard the API server for this long makes /readyz fail; reads go on."""
    watch_timeout_s: Annotated[int, Field(ge=1)] = 20
    """The API server ends each watch after this long, with a bookmark: how soon a silent one shows."""
    inactivity_s: Annotated[float, Field(gt=1)] = 25.0
    """A watch without a byte for this long is half-open, and is reopened."""
    backoff_initial_s: Annotated[float, Field(gt=0)] = 0.2
    """First pause after a watch or list failed; doubles with full jitter."""
    backoff_max_s: Annotated[float, Field(gt=0)] = 5.0
    """Longest such pause: how late the facade may notice that the API server is back."""

    @model_validator(mode="after")
    def _a_quiet_watch_is_neither_dead_nor_stale(self) -> Self:
        if min(self.inactivity_s, self.stale_after_s) <= self.watch_timeout_s:
            raise ValueError("inactivity_s and stale_after_s must be above watch_timeout_s")
        return self


class RedisSettings(Part):
    """Where Redis is."""

    url: str | None = None
    """`redis://…` for custom events between replicas and for rate limits. Absent: nothing that needs it is
    offered."""
    url_file: Path | None = None
    """File with the url instead, where a password is part of it. It is read as the program starts."""
    password_file: Path | None = None
    """File with the password, which is read at each connection. Absent: that of the url, if any."""
    ca_file: Path | None = None
    """CA certificates (PEM) that a `rediss://` server is verified with. Absent: the system's."""
    key_prefix: Annotated[str, Field(pattern="^[A-Za-z0-9_.-]{1,32}$")] = DEFAULT_KEYS.prefix
    """First part of the names of all keys and channels: that of each installation which shares the Redis."""

    @property
    def keys(self) -> RedisKeys:
        return RedisKeys(self.key_prefix)

    @model_validator(mode="after")
    def _with_the_url_of_the_file(self) -> Self:
        if self.url_file is None:
            return self
        if self.url is not None:
            raise ValueError("url and url_file: give one of them")
        try:
            self.url = self.url_file.read_text().strip()
        except OSError as error:
            raise ValueError(f"url_file: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError("url_file: is not UTF-8") from None
        if not self.url:
            raise ValueError("url_file: is empty")
        return self


class EventSettings(Part):
    """Bounds and timeouts of events and their streams."""

    prefix: Annotated[str, Field(pattern="^[A-Za-z0-9_.-]{1,32}$")] = "apistream"
    """First part of the names of resource-change events, `<prefix>:live:…` and `<prefix>:layout:…`."""
    payload_bytes: Annotated[int, Field(ge=64, le=1_048_576)] = 65_536
    """Largest payload of a published event as JSON."""
    subscriptions_per_session: Annotated[int, Field(ge=1)] = 256
    """Subscriptions that one stream may hold."""
    names_per_token: Annotated[int, Field(ge=1)] = 10_000
    """Names in the subscriptions of one token's streams on one replica; each alternative counts."""
    wildcards_per_token: Annotated[int, Field(ge=0)] = 64
    """Different patterns with `*` elsewhere than at their end that one token may hold on one replica: each
    event is compared with them one by one."""
    wildcards_per_audience: Annotated[int, Field(ge=0)] = 512
    """The same of all streams that the same events go to: an owner's, or those of a project's guests."""
    sessions_per_token: Annotated[int, Field(ge=1)] = 1000
    """Streams that one token may hold open on one replica."""
    bytes_per_owner_s: Annotated[int, Field(ge=0)] = 33_554_432
    """Bandwidth of an owner's streams on a replica, in bytes of events a second, for events that go to more
    than 16 of them; what exceeds it waits, and is lost where too much waits. 0: no limit."""
    backlog_events: Annotated[int, Field(ge=1)] = 4096
    """Messages that wait for a slow reader; more are dropped, and the reader is notified."""
    backlog_bytes: Annotated[int, Field(ge=1024)] = 4_194_304
    """The same in bytes. Streams share their events: a thousand slow readers of the same cost as one."""
    stalled_after_s: Annotated[float, Field(gt=0)] = 30.0
    """A stream whose reader takes nothing for this long while something waits is cut."""
    heartbeat_s: Annotated[float, Field(gt=0)] = 15.0
    """An HTTP stream says so where it had nothing to say for this long; WebSockets have pings."""
    reconnect_lead_s: Annotated[float, Field(ge=0)] = 60.0
    """How long before a token's expiry its streams are asked to reconnect."""
    drain_s: Annotated[float, Field(ge=0)] = 5.0
    """How long streams have to move on when the server ends; at most half of its grace."""
    replay_s: Annotated[float, Field(ge=1, le=600)] = 60.0
    """How long a reconnect is covered: events are kept for as long."""
    replay_events: Annotated[int, Field(ge=1)] = 20_000
    """Most events that are kept for it, and in Redis most custom events of one user."""
    redis_bytes: Annotated[int, Field(ge=1024)] = 4_194_304
    """Most bytes of one user's custom events in Redis; the older half goes when there are more."""
    redis_service_bytes: Annotated[int, Field(ge=1024)] = 33_554_432
    """The same of a service's users together; it is the one with the most whose older half goes."""
    replay_bytes: Annotated[int, Field(ge=1024)] = 33_554_432
    """Most bytes of events that are kept for it."""


class Settings(ProgramSettings):
    """All settings of the facade."""

    listen: ListenSettings = ListenSettings()
    public_url: str = "http://localhost:8080"
    """Address that clients reach the interface at; used in links and in the OpenAPI document."""
    renderer_base_url: str = ""
    """Where versions of the studio's page are, as the operator has it; answers name the page in force."""
    redirected_hosts: list[RedirectedHost] = REDIRECTED_HOSTS
    """End points that clients have built in; `/sdk/redirect.js` sends them here."""
    show_namespace: str = "shows"
    """Namespace of shows and their Secrets."""
    release_namespace: str = ""
    """Namespace of what it shares with operator and gateways. Default: the pod's own, from POD_NAMESPACE."""
    keys_namespace: str = ""
    """Namespace of signing keys and API keys. Default: that of the release."""
    inside: InsideRules = InsideRules()
    """Which urls of projects, sources and destinations lead inside, and are refused."""
    cors: CorsSettings = CorsSettings()
    limits: LimitSettings = LimitSettings()
    rate_limits: RateLimitSettings = RateLimitSettings()
    quotas: QuotaSettings = QuotaSettings()
    tokens: TokenSettings = TokenSettings()
    guest_links: GuestLinkSettings = GuestLinkSettings()
    ingest: IngestSettings = IngestSettings()
    rooms: RoomSettings = RoomSettings()
    cache: CacheSettings = CacheSettings()
    redis: RedisSettings = RedisSettings()
    events: EventSettings = EventSettings()
    log_level: str = "INFO"
    """Least level that is logged: DEBUG, INFO, WARNING or ERROR."""

    @model_validator(mode="after")
    def _default_namespace(self) -> Settings:
        self.release_namespace = (
            self.release_namespace or os.environ.get("POD_NAMESPACE", "") or "onair-system"
        )
        self.keys_namespace = self.keys_namespace or self.release_namespace
        return self
