"""Settings of the operator: one tree, in the order of the chart's values.

`onair_crds.runtime.settings` says where they are read from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from onair_crds.contract.ingest import FoundAddresses, Ingest, cluster_ingest, found_ingest
from onair_crds.contract.inside_addresses import InsideRules, Range
from onair_crds.contract.page_network import may_be_of_rooms
from onair_crds.contract.pod import COMPOSITOR_URL, DEFAULT_MAX_HEIGHT, DEFAULT_MAX_WIDTH, SandboxMode
from onair_crds.contract.redirect import REDIRECTED_HOSTS, RedirectedHost
from onair_crds.contract.renderer_token import DEFAULT_ISSUER
from onair_crds.contract.rooms import API_KEY, API_SECRET, SECRET_NAME
from onair_crds.runtime.settings import Part, ProgramSettings
from onair_crds.shapes import Document


class OperatorPart(Part):
    """A group of the operator's settings, which may be a part of the chart's values that holds more."""


class RegionSettings(OperatorPart):
    """A region that encoders may run in; `name` is the node label `topology.kubernetes.io/region`."""

    name: str
    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]


class CostSettings(OperatorPart):
    """Requests of an encoder pod: base + perShare × (pixels/s relative to 1280×720@30) × step^complexity."""

    base_millicores: int = 200
    """Taken by browser and agent for video of any size."""
    share_millicores: int = 550
    """Taken by 1280×720@30 on top (measured: 0.55 core in all)."""
    complexity_step: float = 1.25
    """Factor for each step of rendering.complexity."""
    browser_memory_mib: int = 640
    browser_limit_factor: float = 4
    """CPU limit of the browser, by its request; 0 for none."""
    browser_limit_millicores: int = 2000
    """That limit is no lower."""
    encoder_memory_mib: int = 256
    exclusive_cpus: bool = False
    """Whole CPUs for each container, which no other shares where the kubelet's CPU manager is static."""


class SandboxSettings(OperatorPart):
    """What confines pages, in addition to their container."""

    mode: SandboxMode = SandboxMode.SECCOMP
    localhost_profile: str = "onair/chromium.json"
    """With `seccomp`: the profile of the browser, below the kubelet's folder of profiles."""
    node_label: str = ""
    """Of the nodes that have it. Empty: every node has."""
    runtime_class_name: str = ""
    """With `runtimeClass`."""


def _room_port(port: int) -> int:
    if port and not may_be_of_rooms(port):
        raise ValueError("other programs listen there, and pages reach this port at every address")
    return port


RoomPort = Annotated[int, Field(ge=0, le=65535), AfterValidator(_room_port)]


class EncoderNetworkSettings(OperatorPart):
    """What pages may reach by rules of the pod's network, in addition to `inside`."""

    rules: bool = True
    """Load them by an init container with the capability NET_ADMIN."""
    name_servers: list[Range] = []
    """Ranges of name servers, where the network turns a Service's address into a pod's before the rules."""
    room_udp_port: RoomPort = 0
    """Of audio and video of rooms; 0: none."""
    room_tcp_port: RoomPort = 0


class EncoderSettings(OperatorPart):
    """How encoder pods are made."""

    image: str = "onair/encoder:dev"
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    image_pull_secrets: list[str] = []
    priority_class_name: str | None = None
    node_selector: dict[str, str] = {}
    tolerations: list[Document] = []
    termination_grace_period_s: int = 15
    """How long a pod may take to end its streams."""
    max_width: int = DEFAULT_MAX_WIDTH
    """Width of the X screen, pixels: the largest canvas that a warm browser can render."""
    max_height: int = DEFAULT_MAX_HEIGHT
    labels: dict[str, str] = {}
    pod_annotations: dict[str, str] = {}
    """Beside those that say how a pod runs, and that it is not to be moved."""
    authorities_config_map: str = ""
    """ConfigMap in the show namespace with the CA certificates that servers may be signed by."""
    sandbox: SandboxSettings = SandboxSettings()
    cost: CostSettings = CostSettings()
    network: EncoderNetworkSettings = EncoderNetworkSettings()


class BroadcastSettings(OperatorPart):
    """Timeouts and bounds of broadcasts."""

    retention_s: int = 86_400
    """A stopped run becomes Archived after this time."""
    stop_grace_s: float = 10.0
    """An encoder that has not ended its streams after this time is deleted."""
    page_timeout_s: float = 20.0
    """A page that is not ready after this time is on air as a slate; it is loaded on."""
    container_timeout_s: float = 120.0
    """An encoder whose containers cannot start, or that never responds, for this long is lost."""
    max_losses: int = 5
    """Encoders lost in a row, without a frame between, before the run ends with the error Internal."""


class TriggerSettings(OperatorPart):
    """How long a source has to be in a new state until that starts or stops a broadcast."""

    start_patience_s: float = 1.0
    """Connected."""
    stop_patience_s: float = 5.0
    """Disconnected: a reconnect within it does not end a show."""


class RunQuota(OperatorPart):
    """What one tenant may have on air, or waiting to be, for a source to start a broadcast; 0: no limit."""

    broadcasts: Annotated[int, Field(ge=0)]
    pixels_per_second: Annotated[int, Field(ge=0)]
    """Width × height × frame rate of all; 62208000 is 1080p30."""


class RunQuotas(OperatorPart):
    """Quotas of the broadcasts that sources start, as the facade has them."""

    per_service: RunQuota = RunQuota(broadcasts=500, pixels_per_second=31_104_000_000)
    """Of all users of a service together."""
    per_user: RunQuota = RunQuota(broadcasts=50, pixels_per_second=3_110_400_000)


class RtcProviderSettings(OperatorPart):
    """A provider of rooms that destinations may name by `app_id`."""

    app_id: Annotated[str, Field(min_length=1, max_length=256)]
    type: Literal["livekit"]
    url: Annotated[str, Field(pattern=r"^wss?://")]
    """Address of the provider's server."""
    credentials: Path
    """Folder with the files `apiKey` and `apiSecret`."""
    services: list[str] = []
    """Services whose destinations may name it. Empty: all."""
    channel_prefix: Annotated[str, Field(max_length=200)] = ""
    """What each `channelId` begins with, in which `{serviceId}` is that of the collection's owner."""


class RtcSettings(OperatorPart):
    """Providers of WebRTC rooms that destinations may name."""

    providers: list[RtcProviderSettings] = []


class GatewaySettings(OperatorPart):
    """One pod that sources are pushed to, or pulled by."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Of the pod, such as `onair-ingest-0`."""
    region: str = ""
    url: Annotated[str, Field(pattern=r"^https?://")]
    """Of its gateway, without a path."""


class IngestServiceSettings(OperatorPart):
    """A Service of the release's namespace that publishers come by."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    region: str = ""
    """Empty: it leads to ingest pods of all regions."""


class IngestSettings(OperatorPart):
    """Where sources are pushed to, and the gateways."""

    rtmp_base_url: str = ""
    """Server and application. Empty: as found of `services`, else the service `onair-ingest` itself."""
    srt_base_url: str = ""
    """Listener. Empty: likewise."""
    services: list[IngestServiceSettings] = []
    """Whose addresses are looked for, the default region's first. None: nothing is."""
    gateways: list[GatewaySettings] = []
    """Of all regions, those of the default one first."""

    def addresses(self, namespace: str, found: FoundAddresses | None = None) -> Ingest:
        """Where sources are pushed to, with what was found of the services."""
        default = found_ingest(found) if self.services else cluster_ingest(namespace)
        return default.with_values(self.rtmp_base_url, self.srt_base_url)


class RoomSecretSettings(OperatorPart):
    """The Secret of the release's namespace that holds the room server's credentials."""

    name: str = SECRET_NAME
    api_key: str = API_KEY
    api_secret: str = API_SECRET


class RoomSettings(OperatorPart):
    """Hosted WebRTC rooms."""

    url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    """HTTP address of livekit-server. Empty: there are no hosted rooms."""
    secret: RoomSecretSettings = RoomSecretSettings()


class RedisSettings(OperatorPart):
    """Redis, whose password the operator may make."""

    built_in: bool = False
    """It is the chart's own: the operator makes its password."""


class ReceiverSettings(OperatorPart):
    """The built-in server that destinations are tried with."""

    hosts: list[str] = []
    """Host and port of the built-in MediaMTX, which destinations are tried with. Empty: there is none."""


class LeaderElectionSettings(OperatorPart):
    """The Lease by which one operator leads."""

    lease_name: str = "onair-operator"
    lease_duration_s: float = 8.0
    """A Lease that was not renewed for this long may be taken over."""
    renew_interval_s: float = 2.0


class OperatorSettings(ProgramSettings):
    """All settings of the operator."""

    show_namespace: str = "shows"
    """Namespace of shows, their Secrets and encoder pods."""
    release_namespace: str = "onair-system"
    """Namespace of the operator's own Lease and signing key."""
    keys_namespace: str = ""
    """Namespace of the facade's keys, and the public half of that of pages' tokens. Empty: the release's."""
    renderer_url: str = COMPOSITOR_URL
    """Page of compositions without one of their own: the compositor, which encoders bring along."""
    renderer_base_url: str = ""
    """Where versions of the studio's page are. Empty: projects of the studio get the page of scenes."""
    redirected_hosts: list[RedirectedHost] = REDIRECTED_HOSTS
    """End points that pages of the studio have built in; in pods they are the facade."""
    facade_url: str = "http://onair-api.onair-system.svc"
    """Where encoders follow changes of layers."""
    token_issuer: str = DEFAULT_ISSUER
    """`iss` of access tokens, as the facade has it."""
    inside: InsideRules = InsideRules()
    """Where destinations must not lead to."""
    regions: list[RegionSettings] = []
    """Regions that encoders run in, the default first. None: any node, without a region."""
    encoder: EncoderSettings = EncoderSettings()
    broadcast: BroadcastSettings = BroadcastSettings()
    triggers: TriggerSettings = TriggerSettings()
    quotas: RunQuotas = RunQuotas()
    rtc: RtcSettings = RtcSettings()
    """Providers of rooms of real-time communication."""
    ingest: IngestSettings = IngestSettings()
    """Where live sources arrive."""
    rooms: RoomSettings = RoomSettings()
    """Server of hosted rooms."""
    redis: RedisSettings = RedisSettings()
    """Redis of the facade."""
    receiver: ReceiverSettings = ReceiverSettings()
    """What destinations are tried with."""
    leader_election: LeaderElectionSettings = LeaderElectionSettings()
    resync_interval_s: float = 60.0
    """How often everything is listed and compared, so that nothing a watch missed stays missed."""
    health_port: int = 8080
    """Port of /healthz, /readyz and /metrics."""
    log_level: str = "INFO"
