"""Whether a page can decode anything of a stream."""

from __future__ import annotations

import pytest

from onair_ingest.mediamtx.records import Track
from onair_ingest.streams.decodable import undecodable


@pytest.mark.parametrize(
    "codecs", [[], ["H264"], ["H265", "MPEG-4 Audio"], ["H264", "Opus"], ["KLV", "MPEG-4 Audio LATM"]]
)
def test_one_track_is_enough_and_before_any_is_known_nothing_is_said(codecs: list[str]) -> None:
    assert undecodable(Track(codec=each) for each in codecs) is None


def test_what_it_has_instead_is_said_within_a_websockets_close() -> None:
    assert undecodable([Track(codec="Opus"), Track(codec="H265"), Track(codec="Opus")]) == (
        "H.264 or AAC is needed, and it has H265, Opus"
    )
    reason = undecodable(Track(codec=f"codec {n}") for n in range(100))
    assert reason
    assert len(reason.encode()) <= 123
