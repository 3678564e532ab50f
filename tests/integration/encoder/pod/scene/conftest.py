"""One show of scenes on air for all tests of this folder, with all programs that it needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.control_plane import ControlPlane
from tests.support.media.live_view import LiveView
from tests.support.redis_server import RedisServer
from tests.support.scene.on_air import OnAir, on_air


@pytest.fixture(scope="package")
def show_on_air(
    control_plane: ControlPlane, crds: None, redis_server: RedisServer
) -> Iterator[tuple[OnAir, LiveView]]:
    with on_air(control_plane, redis_server) as (started, url), LiveView(url) as seen:
        yield started, seen


@pytest.fixture
def air(show_on_air: tuple[OnAir, LiveView]) -> Iterator[OnAir]:
    """The show; what a test ended and, as it failed, did not start again is there for the next one."""
    yield show_on_air[0]
    show_on_air[0].bring_back()


@pytest.fixture
def view(show_on_air: tuple[OnAir, LiveView]) -> LiveView:
    return show_on_air[1]
