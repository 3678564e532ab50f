"""From RTMP messages to records on a clock of their own. Pure."""

from __future__ import annotations

from onair_crds.contract.access_units import Record, UnitKind
from onair_crds.rtmp.chunks import RtmpMessage
from onair_ingest.readers.codecs import Unsupported, unit_of
from onair_ingest.readers.timeline import Timeline

MAX_COMPOSITION_MS = 2000
"""No encoder shows a picture later after its decoding."""


class Demuxer:
    def __init__(self) -> None:
        self.unsupported: dict[int, str] = {}
        """By type of message, why it is not handed on."""
        self.damaged = 0
        self._timeline = Timeline()

    def restart(self) -> None:
        """What comes next has times of its own."""
        self._timeline.restart()

    def records(self, message: RtmpMessage, now_s: float) -> list[Record]:
        """The records of one message: none if it holds nothing that a page could decode."""
        try:
            unit = unit_of(message.type, message.body)
        except Unsupported as error:
            self.unsupported[message.type] = str(error)
            return []
        except ValueError:
            self.damaged += 1
            return []
        if unit is None:
            return []
        if unit.kind in (UnitKind.VIDEO_CONFIG, UnitKind.AUDIO_CONFIG):
            # Servers send configurations with the time 0, whatever time the media are at
            return [Record(unit.kind, 0, 0, unit.payload)]
        dts_us = self._timeline.place(message.timestamp_ms, now_s) * 1000
        composition_ms = min(max(unit.composition_ms, 0), MAX_COMPOSITION_MS)
        return [Record(unit.kind, dts_us + composition_ms * 1000, dts_us, unit.payload, unit.key)]
