"""Scenes on air, 1280×720@30: in the local cluster, and in a pod of Docker with nothing else beside it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.cluster import address
from tests.support.control_plane import ControlPlane
from tests.support.ingest.clip import ClipEncoding, make_clip
from tests.support.media.live_view import LiveView
from tests.support.receiver import ReceiverClient, read_url
from tests.support.redis_server import RedisServer
from tests.support.scene.bench_stage import BenchStage
from tests.support.scene.live_scene import LiveLayout, LiveScene, PutOnAir
from tests.support.scene.on_air import on_air
from tests.support.shows import LiveShow

BACKLOG_S = 2.0
"""A reader is first given what began before it."""
CLIP_S = 120.0
CLIPS = Path(__file__).parents[3] / "build/bench/clips"
SIZE = 1280, 720


@pytest.fixture
def scene(make_show: Callable[..., LiveShow]) -> LiveScene:
    """A scene without layouts, not on air."""
    return LiveScene(make_show("", width=SIZE[0], height=SIZE[1], composition={"scene": {}}))


@pytest.fixture
def put_on_air(scene: LiveScene, receiver: ReceiverClient, path: str) -> PutOnAir:
    """Starts the scene with one of its layouts, and shows what is received of it."""

    @contextmanager
    def start(layout: LiveLayout, gray: tuple[int, int]) -> Iterator[LiveView]:
        scene.select(layout)
        scene.show.add_destination(**address(path))
        scene.show.start()
        receiver.wait_ready(path, 60)
        scene.show.wait_phase("RUNNING")
        with LiveView(read_url(path), gray) as view:
            view.watch(BACKLOG_S)
            yield view

    return start


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What sources send: 1280×720@30 at 2.5 Mbit/s, with a clock painted on it and clicks; made once."""
    kept = CLIPS / f"{CLIP_S:g}-s.mkv"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(make_clip(tmp_path_factory.mktemp("clip") / kept.name, CLIP_S, ClipEncoding()), kept)
    return kept


@pytest.fixture(scope="module")
def stage(control_plane: ControlPlane, crds: None, redis_server: RedisServer) -> Iterator[BenchStage]:
    with on_air(control_plane, redis_server, SIZE) as (air, url):
        yield BenchStage(air, url)
