"""Playlists in a bucket that another program has written, or somebody by hand: nothing of them does harm."""

from __future__ import annotations

import datetime as dt

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls.live_window import LiveWindow
from onair_encoder.publish.hls.presentation import Presentation, SegmentWriter
from onair_encoder.publish.hls.recording import Recording

BEGAN = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
STORAGE = ProgramStorage(region="r", bucket="shows", access_key="AK", secret_key="s3cret")


def written(duration: str = "2.000", began: str = "2026-11-21T11:00:00Z", target: str = "2") -> str:
    """A playlist of one segment, which is one of this run's recording."""
    return f"""#EXTM3U
#EXT-X-TARGETDURATION:{target}
#EXT-X-MEDIA-SEQUENCE:7
#EXT-X-PLAYLIST-TYPE:EVENT
#EXT-X-PROGRAM-DATE-TIME:{began}
#EXTINF:{duration},
run_rec-00000007.1.a1.ts
"""


BAD = [
    written(duration="1.2.3"),
    written(duration="."),
    written(duration="9" * 400),
    written(duration="-1"),
    written(began="2026-11-21T11:00:00"),
    written(began="0001-01-01T00:00:00+23:59"),
    written(began="yesterday"),
    written(target="999999999"),
    "#EXTM3U\n" * 3,
    "\x00\xff",
]


def follow(presentation: Presentation, text: str) -> str:
    """The playlist after another segment."""
    presentation.resume(text)
    presentation.add(Cut(b"", 2.0, BEGAN, False, 1), presentation.next_name)
    return presentation.text()


@pytest.mark.parametrize("text", BAD)
def test_a_recording_begins_anew_where_it_cannot_be_read(text: str) -> None:
    recording = Recording(STORAGE, SegmentWriter("run", 1, "b2"))
    assert "00000007" not in follow(recording, text)
    assert recording.missing_s == 0.0


@pytest.mark.parametrize("text", [each.replace("#EXT-X-PLAYLIST-TYPE:EVENT\n", "") for each in BAD])
def test_a_window_begins_anew_where_it_cannot_be_read_and_is_no_longer_than_it_is(text: str) -> None:
    window = LiveWindow(STORAGE, SegmentWriter("run", 1, "b2"))
    follow(window, text)
    for _ in range(50):
        window.add(Cut(b"", 2.0, BEGAN, False, 1), window.next_name)
    assert len(window.playlist.segments) == STORAGE.playlist_count


def test_a_time_of_another_zone_is_one() -> None:
    recording = Recording(STORAGE, SegmentWriter("run", 1, "b2"))
    text = follow(recording, written(began="2026-11-21T13:59:58+02:00"))
    assert "#EXT-X-PROGRAM-DATE-TIME:2026-11-21T11:59:58.000Z\n" in text
    assert recording.missing_s == 0.0


def test_a_number_beyond_all_numbers_is_none() -> None:
    window = LiveWindow(STORAGE, SegmentWriter("run", 1, "b2"))
    text = written().replace("#EXT-X-PLAYLIST-TYPE:EVENT\n", "")
    follow(window, text.replace("SEQUENCE:7", "SEQUENCE:999999999999999999"))
    assert window.playlist.next_sequence < 10
