"""A source that a real encoder pushes to a real ingest server: its state is the truth within a second."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.gateway_server import SECRET
from tests.support.ingest.encoder import Encoder
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.ingest_operator import camera, operated, status_with
from tests.support.operated_namespace import OperatedNamespace

from onair_crds.kube.apis import CUSTOM, SECRETS
from onair_operator.settings import GatewaySettings

pytestmark = pytest.mark.media

NAME = "onair-ingest-0"


@pytest.fixture
def facade() -> Iterator[ScriptedFacade]:
    with ScriptedFacade(SECRET) as facade:
        yield facade


@pytest.fixture
def pod(tmp_path: Path, facade: ScriptedFacade) -> Iterator[IngestPod]:
    with IngestPod(tmp_path, facade.url, SECRET, NAME) as pod:
        yield pod


async def test_the_state_of_a_source_follows_its_encoder(
    cluster: OperatedNamespace, pod: IngestPod, facade: ScriptedFacade
) -> None:
    gateway = GatewaySettings(name=NAME, url=f"http://127.0.0.1:{pod.port}")
    async with operated(cluster, gateway):
        await cluster.collection()
        stream = await camera(cluster)
        secret = await cluster.client.get(SECRETS, cluster.namespace, "source-camera")
        key = base64.b64decode(secret["data"]["streamKey"]).decode()
        facade.keys.add(key)
        with Encoder(f"{pod.rtmp}/{key}") as encoder:
            status = await status_with(cluster, connect="Connected", gateway=NAME, stream=stream)
            assert status["media"]["video"]["codec"] == "H264"
            assert status["media"]["audio"] == {"codec": "AAC", "sampleRate": 48_000, "channels": 2}
            encoder.process.kill()
            began = time.monotonic()
            await status_with(cluster, connect="Disconnected", gateway=None)
            assert time.monotonic() - began < 1.0
        with Encoder(f"{pod.rtmp}/{key}") as encoder:
            await status_with(cluster, connect="Connected")
            began = time.monotonic()
            await cluster.patch("Source", "camera", {"address": {"rtmpPush": {"enabled": False}}})
            await status_with(cluster, connect="Disconnected", lastError="the source is disabled")
            assert await asyncio.to_thread(encoder.ends) != 0
            assert time.monotonic() - began < 1.5, "an encoder needs a moment to give up"
        await cluster.patch("Source", "camera", {"address": {"rtmpPush": {"enabled": True}}})
        with Encoder(f"{pod.rtmp}/{key}") as encoder:
            await status_with(cluster, connect="Connected")
            await cluster.client.delete(CUSTOM["Source"], cluster.namespace, "camera")
            assert await asyncio.to_thread(encoder.ends) != 0
        assert key not in pod.log
