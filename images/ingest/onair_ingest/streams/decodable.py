"""Whether a page can decode anything of a stream, as its tracks say. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from onair_ingest.mediamtx.records import Track

CODECS = frozenset({"H264", "MPEG-4 Audio", "MPEG-4 Audio LATM"})
"""As MediaMTX names them."""
MAX_NAMES = 80
"""Characters: the reason of a WebSocket's close has 123 bytes."""


def undecodable(tracks: Iterable[Track]) -> str | None:
    """Why no page can decode any of these tracks; None if one can, or if none are known yet."""
    codecs = {track.codec for track in tracks}
    if not codecs or codecs & CODECS:
        return None
    return f"H.264 or AAC is needed, and it has {', '.join(sorted(codecs))[:MAX_NAMES]}"
