"""A screen that is not there takes nothing else down."""

from __future__ import annotations

import pytest

from onair_encoder.browser import window

NOBODY = ":9999"


def test_a_screen_that_cannot_be_reached_keeps_its_rate_and_its_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(window, "DISPLAY", NOBODY)
    window.set_refresh(20_000)
    window.resize(640, 360)
    said = capsys.readouterr().err
    assert "screen.rate-not-set" in said
    assert "window.not-resized" in said
