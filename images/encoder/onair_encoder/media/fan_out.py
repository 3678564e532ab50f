"""Hands every packet of the programme to every subscriber, and to a late one the GOP so far."""

from __future__ import annotations

import time
from typing import Protocol

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.runtime.stderr_log import log
from onair_encoder.media.timeline import Timeline

MAX_GOP_PACKETS = 4000


class Subscriber(Protocol):
    """Takes the packets of the programme."""

    def packet(self, packet: Packet) -> None:
        """Takes a packet; must not block."""


class FanOut:
    """Hands packets to its subscribers, on one timeline across restarts of ffmpeg."""

    def __init__(self) -> None:
        self.frames = 0
        self.bytes = 0
        self.first_keyframe_at: float | None = None
        """Wall clock, seconds."""
        self.last_keyframe_at: float | None = None
        """Monotonic clock, seconds."""
        self.nominal_bytes_per_s = 0.0
        """The wanted bitrate of the programme."""
        self._timeline = Timeline()
        self._subscribers: list[Subscriber] = []
        self._failing: set[int] = set()
        self._headers: dict[int, Packet] = {}
        """Script data and codec configurations, by packet type."""
        self._gop: list[Packet] = []
        self._key: Packet | None = None
        """The last key frame."""
        self._last_ms: dict[int, int] = {}
        """Time of the last packet that was handed on, by packet type."""

    def stream_begins(self) -> None:
        """ffmpeg has (re)connected."""
        self._timeline.restart()

    def put(self, packet: Packet) -> None:
        """Takes a packet of ffmpeg's and hands it to the subscribers."""
        packet = self._timeline.place(packet, time.monotonic())
        if packet.type not in (AUDIO, VIDEO, SCRIPT):
            return
        if packet.type == SCRIPT or packet.header:
            known = self._headers.get(packet.type)
            self._headers[packet.type] = packet
            if known and known.body == packet.body:
                return
            if packet.type == SCRIPT:
                # Possibly another format: new subscribers get nothing of the old one
                self._headers = {SCRIPT: packet}
            self._gop.clear()
            self._key = None
        else:
            if packet.timestamp_ms <= self._last_ms.get(packet.type, -1):
                return  # where one stream follows another, the audio of both may overlap
            self._last_ms[packet.type] = packet.timestamp_ms
            self._remember(packet)
        for subscriber in [*self._subscribers]:
            try:
                subscriber.packet(packet)
            except Exception as error:  # noqa: BLE001  one destination must not affect the others
                self._note(subscriber, error)

    def _note(self, subscriber: Subscriber, error: Exception) -> None:
        """Logs the first failure of a subscriber, without its text, which may hold a key."""
        if id(subscriber) not in self._failing:
            self._failing.add(id(subscriber))
            log("subscriber.failed", kind=type(subscriber).__name__, error=type(error).__name__)

    def _remember(self, packet: Packet) -> None:
        self.bytes += len(packet.body)
        if packet.type == VIDEO:
            self.frames += 1
        if packet.keyframe:
            self.last_keyframe_at = time.monotonic()
            self.first_keyframe_at = self.first_keyframe_at or time.time()
            self._key = packet
            self._gop.clear()
        if self._gop or packet.keyframe:
            self._gop.append(packet)
            if len(self._gop) > MAX_GOP_PACKETS:
                self._gop.clear()

    def subscribe(self, subscriber: Subscriber) -> list[Packet]:
        """Adds a subscriber; returns what it must send first: script data, headers and the GOP so far."""
        self._subscribers.append(subscriber)
        first = [self._headers[type_] for type_ in (SCRIPT, VIDEO, AUDIO) if type_ in self._headers]
        return first + self._gop

    def unsubscribe(self, subscriber: Subscriber) -> None:
        self._failing.discard(id(subscriber))
        if subscriber in self._subscribers:
            self._subscribers.remove(subscriber)

    def last_keyframe(self) -> list[Packet] | None:
        """The video's header and its last key frame: what a snapshot is decoded from."""
        header = self._headers.get(VIDEO)
        return [header, self._key] if header and self._key else None

    @property
    def bytes_per_s(self) -> float:
        """The programme's bitrate since the last key frame; the wanted one before there is one."""
        if len(self._gop) < 2:
            return self.nominal_bytes_per_s
        # A key frame alone says little: never less than half a second of it.
        span_ms = max(500, self._gop[-1].timestamp_ms - self._gop[0].timestamp_ms)
        return sum(len(packet.body) for packet in self._gop) * 1000 / span_ms

    @property
    def has_media(self) -> bool:
        return self._key is not None
