"""Audio and video of a start arrive together."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.av_start import av_offset_of_a_start

pytestmark = pytest.mark.media

BOUND_MS = 20.0


def test_audio_and_video_of_a_start_are_together(tmp_path: Path, page: str, far_end: RtmpContainer) -> None:
    """At twice the bound, which is the bench's: a busy machine delays the painting."""
    assert abs(av_offset_of_a_start(tmp_path, page, far_end)) < BOUND_MS * 2
