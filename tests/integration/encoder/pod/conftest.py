"""Two containers of a pod, what they deliver to, and a show of hostile pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import own_image
from tests.support.hostile_show import KEY, HostileShow
from tests.support.hostile_site import HostileSite
from tests.support.pages import probe_page
from tests.support.pod_pair import PodPair

HOSTILE_MEMORY_MIB = 1200


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


@pytest.fixture(scope="module")
def hostile_show(tmp_path_factory: pytest.TempPathFactory, far_end: RtmpContainer) -> Iterator[HostileShow]:
    folder = tmp_path_factory.mktemp("hostile")
    with ExitStack() as parts:
        pair = parts.enter_context(PodPair(folder, browser_memory_mib=HOSTILE_MEMORY_MIB))
        pair.wait_agent()
        site = parts.enter_context(HostileSite(["docker", "exec", "-i", f"{pair.name}-encoder"]))
        show = HostileShow(pair, far_end, site)
        show.calm_down()
        pair.wait_phase("running")
        show.connection = far_end.wait_publisher(KEY)
        yield show


@pytest.fixture
def show(hostile_show: HostileShow) -> Iterator[HostileShow]:
    yield hostile_show
    hostile_show.calm_down()
    hostile_show.assert_whole()
