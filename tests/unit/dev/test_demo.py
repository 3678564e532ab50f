"""The demo records until its media is whole, and leaves on the air its greeting or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.media import probe
from tests.support.media.probe import MediaReport, RecordedFile

from onair_dev import demo, scene_demo

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


class Stage:
    """A facade with what earlier demos have left, and a receiver of whatever is on the air."""

    def __init__(self, demo_module: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.on_air = ["earlier"]
        self.began_beside: list[str] = []
        self.users: list[str] = []
        monkeypatch.setattr(demo_module, "variables", dict)
        monkeypatch.setattr(demo_module, "FOLDER", folder)
        monkeypatch.setattr(demo_module, "ReceiverClient", lambda: self)
        facade = SimpleNamespace(from_environment=self._sign_in)
        monkeypatch.setattr(demo_module, "FacadeClient", facade)

    def _sign_in(self, user: str) -> Stage:
        self.users.append(user)
        return self

    def delete_collections(self) -> int:
        ended, self.on_air = self.on_air, []
        return len(ended)

    def show(self, *_: object, **__: object) -> SimpleNamespace:
        self.began_beside = list(self.on_air)
        self.on_air.append("ours")
        return SimpleNamespace(
            add_destination=lambda *_, **__: None,
            start=lambda: None,
            delete=lambda: self.on_air.remove("ours"),
            wait_phase=lambda _: None,
            collection="c",
        )

    def ready(self, _: str) -> bool:
        return bool(self.on_air)

    def wait_ready(self, *_: object) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("keep", [False, True])
def test_a_demo_that_is_interrupted_leaves_no_show(
    keep: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stage = Stage(demo, monkeypatch, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        demo.demo(keep=keep)
    assert stage.on_air == []
    assert stage.began_beside == [], "an earlier show would be received in the place of this one"


def test_a_scene_that_is_kept_can_be_stopped_and_is_ended_by_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = Stage(scene_demo, monkeypatch, tmp_path)
    monkeypatch.setattr(scene_demo, "perform", lambda *_: None)
    scene_demo.demo(keep=True)
    assert stage.on_air == ["ours"]
    assert "kubectl delete collection c -n shows" in capsys.readouterr().out
    scene_demo.demo(keep=False)
    assert stage.began_beside == []
    assert stage.on_air == []
    assert stage.users == ["demo-scene"] * 2, "of a kept show of the other demo"
