"""A scene on air in the local cluster, 1280×720@30."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.cluster import address
from tests.support.receiver import Receiver
from tests.support.scene.live_scene import LiveLayout, LiveScene, SceneOnAir
from tests.support.shows import LiveShow


@pytest.fixture
def scene(make_show: Callable[..., LiveShow]) -> LiveScene:
    """A scene without layouts, not on air."""
    return LiveScene(make_show("", width=1280, height=720, composition={"scene": {}}))


@pytest.fixture
def put_on_air(receiver: Receiver, path: str) -> SceneOnAir:
    """Starts a scene with a layout; it is received at `path`."""

    def start(scene: LiveScene, layout: LiveLayout) -> None:
        scene.select(layout)
        scene.show.add_destination(**address(path))
        scene.show.start()
        receiver.wait_ready(path, 60)
        scene.show.wait_phase("RUNNING")

    return start
