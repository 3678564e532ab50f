"""Which class delivers which kind of destination: the one place where a kind is registered."""

from __future__ import annotations

from onair_encoder.publish.hls.output import HlsPublisher
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.rtc.output import RtcPublisher
from onair_encoder.publish.rtmp.output import RtmpPublisher
from onair_encoder.publish.srt.output import SrtPublisher

KINDS: dict[str, type[Publisher]] = {
    "RTMP": RtmpPublisher,
    "RTMPS": RtmpPublisher,
    "SRT": SrtPublisher,
    "RTC": RtcPublisher,
    "HLS": HlsPublisher,
}
