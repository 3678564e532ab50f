"""The demo records until its media is whole, and always leaves its greeting on the air."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.media import probe
from tests.support.media.probe import MediaReport, RecordedFile

from onair_dev import demo

WHOLE = MediaReport(
    *("h264", "High", 1280, 720, 30.0, 300, 3e6, 60, 0.0, "aac", 48000, 2, 0.0, 440.0, 0.0, [0.0]),
    av_offset_ms=1.0,
)
GAPS = replace(WHOLE, missing_percent_by_window=[1.1])


class OnAirShow:
    """A show whose pages are noted, and which is received as reported, recording by recording."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *reports: MediaReport) -> None:
        self.pages: list[str] = []
        self.recorded: list[str] = []
        self.path = "/collection/c/project/p"
        self.facade = SimpleNamespace(call=self._patch)
        left = list(reports)
        monkeypatch.setenv("ONAIR_READER", "reader:secret")
        monkeypatch.setattr(probe, "record", self._record)
        monkeypatch.setattr(probe, "analyse", lambda _: left.pop(0))
        monkeypatch.setattr(demo, "latency_ms", lambda _: 100.0)

    def _patch(self, method: str, path: str, body: dict[str, Any]) -> None:
        assert (method, path) == ("PATCH", self.path)
        self.pages.append(body["composition"]["external"]["url"])

    def _record(self, *_: object) -> RecordedFile:
        self.recorded.append(self.pages[-1] if self.pages else demo.TEST_PAGE)
        return RecordedFile(Path("recording.mkv"), 12)


@pytest.mark.parametrize(
    ("reports", "recordings"),
    [((WHOLE,), 1), ((GAPS, WHOLE), 2), ((GAPS, GAPS, WHOLE), 3), ((GAPS, GAPS, GAPS), 3)],
)
def test_it_records_the_test_page_until_it_is_whole(
    monkeypatch: pytest.MonkeyPatch, reports: tuple[MediaReport, ...], recordings: int
) -> None:
    show = OnAirShow(monkeypatch, *reports)
    assert demo.receive(cast(Any, show)) is reports[-1]
    assert show.recorded == [demo.TEST_PAGE] * recordings
    assert show.pages[-1] == demo.GREETING


@pytest.mark.parametrize(
    ("media", "whole"),
    [
        (WHOLE, True),
        (replace(WHOLE, missing_percent_by_window=[1.0]), True),
        (GAPS, False),
        (replace(WHOLE, undecodable_percent=1.1), False),
        (replace(WHOLE, av_offset_ms=None), False),
    ],
)
def test_media_is_whole_with_one_frame_of_a_hundred_missing_at_the_most(
    media: MediaReport, whole: bool
) -> None:
    assert demo.is_whole(media) is whole
