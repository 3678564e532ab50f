"""The kinds of destinations: the one place where a kind is registered."""

from __future__ import annotations

from onair_encoder.publish.hls.output import HlsOutput
from onair_encoder.publish.output import Output
from onair_encoder.publish.rtc.output import RtcOutput
from onair_encoder.publish.rtmp.output import RtmpOutput
from onair_encoder.publish.srt.output import SrtOutput

KINDS: dict[str, type[Output]] = {
    "RTMP": RtmpOutput,
    "RTMPS": RtmpOutput,
    "SRT": SrtOutput,
    "RTC": RtcOutput,
    "HLS": HlsOutput,
}
"""By `ProgramDestination.type`."""
