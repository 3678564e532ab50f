"""A scene on air in the local cluster, 1280×720@30."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.support.cluster import address
from tests.support.media.live_view import LiveView
from tests.support.receiver import RTMP, Receiver
from tests.support.scene.live_scene import LiveLayout, LiveScene, PutOnAir
from tests.support.shows import LiveShow

BACKLOG_S = 2.0
"""A reader is first given what began before it."""


@pytest.fixture
def scene(make_show: Callable[..., LiveShow]) -> LiveScene:
    """A scene without layouts, not on air."""
    return LiveScene(make_show("", width=1280, height=720, composition={"scene": {}}))


@pytest.fixture
def put_on_air(scene: LiveScene, receiver: Receiver, path: str) -> PutOnAir:
    """Starts the scene with one of its layouts, and shows what is received of it."""

    @contextmanager
    def start(layout: LiveLayout, gray: tuple[int, int]) -> Iterator[LiveView]:
        scene.select(layout)
        scene.show.add_destination(**address(path))
        scene.show.start()
        receiver.wait_ready(path, 60)
        scene.show.wait_phase("RUNNING")
        with LiveView(f"{RTMP}/{path}", gray) as view:
            view.watch(BACKLOG_S)
            yield view

    return start
