"""Judges streams by what MediaMTX says of its paths, look by look. Pure: the clocks are arguments.

A stream flows while the bytes of its media grow. Silence counts between two looks that succeeded: a server
that is slow to respond makes no stream silent, until it has not responded for UNRESPONSIVE_S.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace

from onair_crds.contract.ingest_gateway import Audio, StreamState, Video
from onair_crds.contract.times import format_time
from onair_ingest.mediamtx.records import Path, PathSource, Track
from onair_ingest.streams.codec_names import NO_MEDIA, VIDEO_CODECS, codec_name

UNRESPONSIVE_S = 2.5
MAX_ADDRESS = 64
NO_CHANGE = 0.02
"""Measurements of a frame rate that differ by less are of the same."""
SERVER_ENDED = "the ingest server ended"
GATEWAY_ENDED = "the ingest gateway that pulled it ended"
UNRESPONSIVE = "the ingest server does not respond"
CLOSED = "the publisher closed the connection"
PULL_ENDED = "its server ended the stream"
SILENT = "connected, but no media arrives"

PROTOCOLS = {"rtmpConn": "rtmp", "rtmpsConn": "rtmps", "srtConn": "srt", "rtmpSource": "pull"}


@dataclass(frozen=True)
class Look:
    """A stream as MediaMTX has it at one moment."""

    stream: str
    path: Path
    source: PathSource
    address: str = ""
    """Where its publisher comes from; empty if that is not known."""


@dataclass(frozen=True)
class Judged:
    """A stream that is connected, and what has been seen of it."""

    look: Look
    state: StreamState
    grew_at_s: float | None
    """When media arrived last, by the monotonic clock. None: not seen yet."""
    found: bool
    """The connection was there before this gateway."""


@dataclass(frozen=True)
class Moment:
    """A point in time, by both clocks."""

    monotonic_s: float
    wall: dt.datetime


class Judgement:
    """All connected streams. Every method returns the states that changed."""

    def __init__(self, silent_after_s: float) -> None:
        self._silent_after_s = silent_after_s
        self._streams: dict[str, Judged] = {}
        self._unknown: dict[str, StreamState] = {}
        """Those that ended with the server, until it is back."""
        self._looked_at_s: float | None = None
        self._first_look_s: float | None = None

    def get(self, stream: str) -> Judged | None:
        return self._streams.get(stream)

    def all(self) -> Iterable[Judged]:
        return self._streams.values()

    def unknown(self) -> Iterable[StreamState]:
        """Streams that ended with the server: their publishers may come back with it."""
        return self._unknown.values()

    def settled(self, now_s: float) -> bool:
        """Whether it is known of every stream if it flows: at the first look none has been seen to grow."""
        if self._first_look_s is None:
            return False
        return now_s - self._first_look_s > self._silent_after_s or all(
            judged.grew_at_s is not None for judged in self._streams.values()
        )

    def look(self, looks: Iterable[Look], now: Moment) -> list[StreamState]:
        """Takes what MediaMTX has now."""
        first = self._first_look_s is None
        if first:
            self._first_look_s = now.monotonic_s
        self._looked_at_s = now.monotonic_s
        before, self._streams = self._streams, {}
        changed = []
        for look in looks:
            known = before.get(look.stream)
            judged = self._judge(known, look, now, first=first)
            other = self._streams.get(look.stream)
            if other and other.state.flowing:  # by another path: this one is just being disconnected
                continue
            self._streams[look.stream] = judged
            if known is None or known.state != judged.state:
                changed.append(judged.state)
        gone = [judged for stream, judged in before.items() if stream not in self._streams]
        lost, self._unknown = self._unknown, {}
        changed += [
            state.model_copy(update={"unknown": False})
            for stream, state in lost.items()
            if stream not in self._streams
        ]
        return changed + [
            _ended(judged, PULL_ENDED if judged.state.protocol == "pull" else CLOSED, now) for judged in gone
        ]

    def not_responding(self, now: Moment) -> list[StreamState]:
        """MediaMTX did not respond in time: after a while nobody can say that media arrives."""
        if self._looked_at_s is None or now.monotonic_s - self._looked_at_s < UNRESPONSIVE_S:
            return []
        changed = []
        for stream, judged in self._streams.items():
            if judged.state.flowing:
                state = _changed(judged.state, now, flowing=False, error=UNRESPONSIVE)
                self._streams[stream] = replace(judged, state=state)
                changed.append(state)
        return changed

    def ended(self, now: Moment) -> list[StreamState]:
        """MediaMTX is gone, and every connection with it."""
        gone, self._streams = self._streams, {}
        ended = [_ended(judged, SERVER_ENDED, now, unknown=True) for judged in gone.values()]
        self._unknown |= {state.stream: state for state in ended}
        return ended

    def left(self, now: Moment) -> list[StreamState]:
        """Ends what is pulled, as this gateway ends; what is pushed continues."""
        pulled = [judged for judged in self._streams.values() if judged.state.protocol == "pull"]
        return [_ended(judged, GATEWAY_ENDED, now, unknown=True) for judged in pulled]

    def measured(self, look: Look, framerate: float) -> list[StreamState]:
        """Takes the frame rate of a connection, unless another one has come meanwhile."""
        judged = self._streams.get(look.stream)
        if judged is None or judged.look.source.id != look.source.id or judged.state.video is None:
            return []
        video = judged.state.video.model_copy(update={"framerate": framerate})
        known = judged.state.video.framerate
        if known and abs(framerate - known) < NO_CHANGE * known:
            return []
        state = judged.state.model_copy(update={"video": video})
        self._streams[look.stream] = replace(judged, state=state)
        return [state]

    def _judge(self, known: Judged | None, look: Look, now: Moment, *, first: bool) -> Judged:
        same = known is not None and known.look.source == look.source
        before = known.look.path.inbound_bytes if known and same else 0
        found = first or (known is not None and known.found and same)
        grew = look.path.inbound_bytes != before and not first
        grew_at_s = now.monotonic_s if grew else known.grew_at_s if known else None
        flowing = grew_at_s is not None and now.monotonic_s - grew_at_s < self._silent_after_s
        state = known.state if known else _new(look, found, now)
        if flowing != state.flowing:
            # What was there before this gateway, and flows, has done so since it connected.
            continued = found and known is not None and known.grew_at_s is None
            since = state.since if continued else format_time(now.wall)
            state = state.model_copy(update={"flowing": flowing, "since": since})
        tracks = look.path.tracks2
        told = known is not None and same and known.look.path.tracks2 == tracks
        arrives = {
            "protocol": PROTOCOLS[look.source.type],
            "publisher": look.address[:MAX_ADDRESS] or None,
            "video": state.video if told else _video(tracks, state.video if same else None),
            "audio": state.audio if told else _audio(tracks),
            "error": None if flowing or grew_at_s is None else SILENT,
        }
        # Most looks at most streams find nothing new, and a copy takes longer than all the rest
        changed = {name: value for name, value in arrives.items() if getattr(state, name) != value}
        return Judged(look, state.model_copy(update=changed) if changed else state, grew_at_s, found)


def _new(look: Look, found: bool, now: Moment) -> StreamState:
    since = (look.path.available_time if found else None) or now.wall
    return StreamState.model_validate(
        {
            "stream": look.stream,
            "online": True,
            "flowing": False,
            "since": format_time(since),
            "protocol": PROTOCOLS[look.source.type],
        }
    )


def _ended(judged: Judged, error: str, now: Moment, *, unknown: bool = False) -> StreamState:
    return _changed(judged.state, now, online=False, flowing=False, error=error, unknown=unknown)


def _changed(state: StreamState, now: Moment, **fields: object) -> StreamState:
    if state.flowing:
        fields["since"] = format_time(now.wall)
    return state.model_copy(update=fields)


def _video(tracks: list[Track], known: Video | None) -> Video | None:
    for track in tracks:
        if track.codec in VIDEO_CODECS:
            told = track.codec_props
            video = Video(
                codec=codec_name(track),
                profile=(told and told.profile) or None,
                width=(told and told.width) or None,
                height=(told and told.height) or None,
            )
            if known and known.model_copy(update={"framerate": None}) == video:
                return known
            return video
    return None


def _audio(tracks: list[Track]) -> Audio | None:
    for track in tracks:
        if track.codec not in VIDEO_CODECS | NO_MEDIA:
            properties = track.codec_props
            return Audio(
                codec=codec_name(track),
                sample_rate=(properties and properties.sample_rate) or None,
                channels=(properties and properties.channel_count) or None,
            )
    return None
