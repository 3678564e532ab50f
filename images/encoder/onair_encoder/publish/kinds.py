"""Which class delivers which kind of destination: the one place where a kind is registered."""

from __future__ import annotations

from onair_encoder.publish.hls.publisher import HlsPublisher
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.rtmp.publisher import RtmpPublisher
from onair_encoder.publish.srt.publisher import SrtPublisher
from onair_encoder.publish.words import Lost


class UnavailablePublisher(Publisher):
    """A kind that this version does not deliver to: says so."""

    async def session(self) -> None:
        raise Lost(f"delivery by {self.destination.type} is not available in this version", permanent=True)


KINDS: dict[str, type[Publisher]] = {
    "RTMP": RtmpPublisher,
    "RTMPS": RtmpPublisher,
    "SRT": SrtPublisher,
    "RTC": UnavailablePublisher,
    "HLS": HlsPublisher,
}
