"""The browser that all tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.scene.browser import browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[str]:
    """The address of one browser for all tests of pages."""
    with browser() as address:
        yield address
