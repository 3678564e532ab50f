"""Two containers of a pod, and what they deliver to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import own_image
from tests.support.pages import probe_page
from tests.support.pod_pair import PodPair


@pytest.fixture(scope="package")
def page() -> Iterator[str]:
    """The test page."""
    with probe_page() as address:
        yield address


@pytest.fixture(scope="package")
def far_end() -> Iterator[RtmpContainer]:
    with RtmpContainer(own_image("mediamtx")) as server:
        yield server


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[PodPair]:
    with PodPair(tmp_path) as pair:
        pair.wait_agent()
        yield pair
