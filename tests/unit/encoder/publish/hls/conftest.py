"""HLS destinations whose bucket is in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.delivery.hls_in_memory import HlsInMemory


@pytest.fixture
async def hls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HlsInMemory]:
    hls = HlsInMemory(tmp_path, monkeypatch)
    yield hls
    await hls.close()
