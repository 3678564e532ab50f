"""A screen that is not there takes nothing else down."""

from __future__ import annotations

import pytest

from onair_encoder.browser import x_screen

NOBODY = ":9999"


def test_a_screen_that_cannot_be_reached_keeps_its_rate_and_its_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(x_screen, "DISPLAY", NOBODY)
    x_screen.set_refresh(20_000)
    x_screen.resize_window(640, 360)
    said = capsys.readouterr().err
    assert "screen.rate-not-set" in said
    assert "window.not-resized" in said
