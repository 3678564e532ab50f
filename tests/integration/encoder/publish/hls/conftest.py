"""A spool of each test's own, and segments of a second, so that there are several of them soon."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.delivery import storage_server

from onair_encoder.publish.hls import leftovers


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_server, "SEGMENT_MS", 1000)


@pytest.fixture(autouse=True)
def own_spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "SPOOL", tmp_path / "spool")
