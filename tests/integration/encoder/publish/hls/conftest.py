"""A spool of each test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_encoder.publish.hls import spool


@pytest.fixture(autouse=True)
def own_spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SPOOL", tmp_path / "spool")
