"""A feed of scenes that is served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.served_feed import ServedFeed

from onair_encoder.loopback import serve


@pytest.fixture
async def fed(tmp_path: Path) -> AsyncIterator[ServedFeed]:
    fed = ServedFeed(tmp_path)
    runner = await serve("127.0.0.1", 0, fed.feed.add_to)
    fed.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield fed
    await runner.cleanup()
    fed.feed.close()
