"""Settings of the gateway; `onair_crds.runtime.settings` says where they are read from."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated

from pydantic import Field

from onair_crds.contract.ingest_gateway import PORT
from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.runtime.settings import Part, ProgramSettings


class MediaMtxSettings(Part):
    """Where MediaMTX is, and how often it is asked."""

    api_url: str = "http://127.0.0.1:9997"
    """Its API, which nobody else reaches."""
    rtmp_url: str = "rtmp://127.0.0.1:1935"
    """Where this process reads streams: RTSP lacks their decoding times."""
    password_file: Path | None = None
    """Password that its API and its hook have in common, where it is not on this pod's loopback."""
    poll_interval_s: Annotated[float, Field(gt=0, le=1)] = 0.25
    """How often its streams are looked at."""
    timeout_s: Annotated[float, Field(gt=0)] = 2.0
    """A request of its API that takes longer has failed."""


class HookSettings(Part):
    """The hook that MediaMTX calls, and the facade that decides."""

    host: str | None = "127.0.0.1"
    """Address that MediaMTX asks at: the pod's own loopback. None: all of the pod's, IPv4 and IPv6."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 9996
    facade_url: str = "http://onair-api-ingest:8449"
    """The facade's port for gateways."""
    timeout_s: Annotated[float, Field(gt=0)] = 1.0
    """How long the facade may take: MediaMTX stands still meanwhile."""
    pause_s: Annotated[float, Field(ge=0)] = 2.0
    """How long nobody is admitted after the facade has taken longer."""
    unknown_key_s: Annotated[float, Field(ge=0)] = 2.0
    """How long the facade is sent no other request about a key that it did not know."""


class PullSettings(Part):
    """Whether and how streams are pulled."""

    enabled: bool = True
    """Without, nothing is pulled: the server has to be on this pod's loopback, where pulls come from."""
    first_pause_s: Annotated[float, Field(gt=0)] = 1.0
    """Between the first failure and the next attempt; doubles with each failure."""
    longest_pause_s: Annotated[float, Field(gt=0)] = 30.0
    """Longest pause between two attempts."""


class PreviewSettings(Part):
    """How many previews there may be."""

    most: Annotated[int, Field(ge=0)] = 12
    """Previews in rooms at once; each is a process of some 80 MB. Others wait until one ends."""
    most_hls: Annotated[int, Field(ge=0)] = 50
    """Streams that are played by HLS at once; each keeps its last segments in memory, with fewer of them
    where all take too much. Others are refused."""


class Settings(ProgramSettings):
    """All settings of the gateway."""

    name: str = Field(default_factory=lambda: os.environ.get("POD_NAME") or socket.gethostname())
    """What operator and facade call this gateway: its pod's name."""
    port: Annotated[int, Field(ge=0, le=65_535)] = PORT
    """For operator, facade and encoder agents."""
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] = 9090
    """Probes and metrics."""
    secret_file: Path = Path("/run/onair/secret/secret")
    """The installation's secret, which all tokens of ingest follow from."""
    secret_interval_s: Annotated[float, Field(gt=0)] = 5.0
    """How often it is read, as it may be replaced."""
    silent_after_s: Annotated[float, Field(gt=0)] = 1.0
    """A stream without media for this long does not flow."""
    reader_linger_s: Annotated[float, Field(ge=0)] = 5.0
    """How long a stream is read on after its last reader: one that reconnects waits for no key frame."""
    stop_s: Annotated[float, Field(ge=0)] = 3.0
    """How long a gateway that is stopped with its server takes at least. Their pod keeps its network:
    who connects before Services have left the pod out is refused at once, where nobody would answer."""
    connections_file: Path | None = None
    """Where it keeps whose connections its server has, for its next process; best on the pod's own volume."""
    memory_bytes: Annotated[int, Field(gt=0)] = 2 * 2**30
    """What this process and its previews may take: the limit of their container."""
    inside: InsideRules = InsideRules()
    """Where nothing is pulled from."""
    mediamtx: MediaMtxSettings = MediaMtxSettings()
    hook: HookSettings = HookSettings()
    pulls: PullSettings = PullSettings()
    previews: PreviewSettings = PreviewSettings()
    log_level: str = "INFO"
    """Least level that is logged: DEBUG, INFO, WARNING or ERROR."""
