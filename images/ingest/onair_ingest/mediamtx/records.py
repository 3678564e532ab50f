"""What MediaMTX' API says of paths and connections; only the fields that are used, all others are ignored."""

from __future__ import annotations

import datetime as dt
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

T = TypeVar("T")


class MediaMtxRecord(BaseModel):
    """An object of MediaMTX' API."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True)


class TrackProperties(MediaMtxRecord):
    """What is known of a track's codec."""

    profile: str | None = None
    width: int | None = None
    height: int | None = None
    sample_rate: int | None = None
    channel_count: int | None = None


class Track(MediaMtxRecord):
    """A track of a path."""

    codec: str
    codec_props: TrackProperties | None = None


class PathSource(MediaMtxRecord):
    """What a path's stream comes from."""

    type: str
    """`rtmpConn`, `rtmpsConn`, `srtConn`, `rtmpSource` …"""
    id: str = ""
    """Of the connection; empty for a pull."""


class PathName(MediaMtxRecord):
    """A path, only by its name."""

    name: str
    """May hold a stream key."""


class Path(PathName):
    """A path of the server."""

    available: bool = False
    available_time: dt.datetime | None = None
    source: PathSource | None = None
    tracks2: list[Track] = []
    inbound_bytes: int = 0
    """Of media: what keeps a connection alive is not counted."""


class PublisherConnection(MediaMtxRecord):
    """A connection of a publisher. `query` and `user` may hold a stream key."""

    id: str
    query: str = ""
    user: str = ""
    remote_addr: str = ""
    """With its port."""
    packets_received_loss: int = 0
    """Of SRT: packets that were missing when a later one came; most are sent again in time."""

    @property
    def address(self) -> str:
        """The IP address that it comes from."""
        return self.remote_addr.rpartition(":")[0].strip("[]")


class RecordPage(MediaMtxRecord, Generic[T]):
    """A page of a list."""

    page_count: int = 0
    items: list[T] = []
