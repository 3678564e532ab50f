"""Whether a page can decode anything of a stream, as its tracks say. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from onair_crds.contract.access_units import AUDIO_CODEC, VIDEO_CODEC
from onair_ingest.mediamtx.records import Track
from onair_ingest.streams.codec_names import codec_name

MAX_NAMES = 80
"""Characters: the reason of a WebSocket's close has 123 bytes."""


def undecodable(tracks: Iterable[Track]) -> str | None:
    """Why no page can decode any of these tracks; None if one can, or if none are known yet."""
    codecs = {codec_name(track) for track in tracks}
    if not codecs or codecs & {VIDEO_CODEC, AUDIO_CODEC}:
        return None
    return f"H.264 or AAC is needed, and it has {', '.join(sorted(codecs))[:MAX_NAMES]}"
