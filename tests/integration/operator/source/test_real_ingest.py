"""Sources that real encoders push to real ingest servers: their state is the truth within a second."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.gateway_server import SECRET
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.ingest_operator import camera, operated, status_with
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import WITHIN_S, until

from onair_crds.kube.apis import CUSTOM, EVENTS, SECRETS
from onair_operator.settings import GatewaySettings

pytestmark = pytest.mark.media

NAME, OTHER = "onair-ingest-0", "onair-ingest-1"


@pytest.fixture
def scripted_facade() -> Iterator[ScriptedFacade]:
    with ScriptedFacade(SECRET) as scripted_facade:
        yield scripted_facade


@pytest.fixture
def pod(tmp_path: Path, scripted_facade: ScriptedFacade) -> Iterator[IngestPod]:
    with IngestPod(tmp_path, scripted_facade.url, SECRET, NAME) as pod:
        yield pod


@pytest.fixture
def other_pod(tmp_path: Path, scripted_facade: ScriptedFacade) -> Iterator[IngestPod]:
    folder = tmp_path / OTHER
    folder.mkdir()
    with IngestPod(folder, scripted_facade.url, SECRET, OTHER) as pod:
        yield pod


def gateway_of(pod: IngestPod, name: str = NAME) -> GatewaySettings:
    return GatewaySettings(name=name, url=f"http://127.0.0.1:{pod.port}")


async def stream_key(operated_namespace: OperatedNamespace) -> str:
    secret = await operated_namespace.client.get(SECRETS, operated_namespace.namespace, "source-camera")
    return base64.b64decode(secret["data"]["streamKey"]).decode()


async def test_the_state_of_a_source_follows_its_encoder(
    operated_namespace: OperatedNamespace, pod: IngestPod, scripted_facade: ScriptedFacade
) -> None:
    async with operated(operated_namespace, gateway_of(pod)):
        await operated_namespace.collection()
        stream = await camera(operated_namespace)
        key = await stream_key(operated_namespace)
        scripted_facade.keys.add(key)
        with FfmpegEncoder(f"{pod.rtmp}/{key}") as encoder:
            status = await status_with(operated_namespace, connect="Connected", gateway=NAME, stream=stream)
            assert status["media"]["video"]["codec"] == "H264"
            assert status["media"]["audio"] == {"codec": "AAC", "sampleRate": 48_000, "channels": 2}
            encoder.process.kill()
            began = time.monotonic()
            await status_with(operated_namespace, connect="Disconnected", gateway=None)
            assert time.monotonic() - began < WITHIN_S
        with FfmpegEncoder(f"{pod.rtmp}/{key}") as encoder:
            await status_with(operated_namespace, connect="Connected")
            began = time.monotonic()
            await operated_namespace.patch("Source", "camera", {"address": {"rtmpPush": {"enabled": False}}})
            await status_with(operated_namespace, connect="Disconnected", lastError="the source is disabled")
            assert await asyncio.to_thread(encoder.ends) != 0
            assert time.monotonic() - began < WITHIN_S + 1, "an encoder needs a moment to give up"
        await operated_namespace.patch("Source", "camera", {"address": {"rtmpPush": {"enabled": True}}})
        with FfmpegEncoder(f"{pod.rtmp}/{key}") as encoder:
            await status_with(operated_namespace, connect="Connected")
            await operated_namespace.client.delete(CUSTOM["Source"], operated_namespace.namespace, "camera")
            assert await asyncio.to_thread(encoder.ends) != 0
        assert key not in pod.log


async def test_of_two_encoders_that_two_ingest_pods_let_in_the_first_stays(
    operated_namespace: OperatedNamespace,
    pod: IngestPod,
    other_pod: IngestPod,
    scripted_facade: ScriptedFacade,
) -> None:
    """The facade admits both, as two that are asked at the same moment do."""
    async with operated(operated_namespace, gateway_of(pod), gateway_of(other_pod, OTHER)):
        await operated_namespace.collection()
        await camera(operated_namespace)
        key = await stream_key(operated_namespace)
        scripted_facade.keys.add(key)
        with FfmpegEncoder(f"{other_pod.rtmp}/{key}") as first:
            await status_with(operated_namespace, connect="Connected", gateway=OTHER)
            with pod.follow() as follower, FfmpegEncoder(f"{pod.rtmp}/{key}") as second:
                arrived = await asyncio.to_thread(follower.flowing, key)
                ended = await asyncio.to_thread(follower.ended, key)
                assert ended.at_s - arrived.at_s < WITHIN_S
                assert await asyncio.to_thread(second.ends) != 0
            await status_with(operated_namespace, connect="Connected", gateway=OTHER)
            assert first.process.poll() is None

        async def told() -> bool:
            items = (await operated_namespace.client.list(EVENTS, operated_namespace.namespace))["items"]
            return [each["message"] for each in items if each["reason"] == "SecondPublisher"] == [
                f"disconnected: {NAME} had a second publisher, while {OTHER} has one"
            ]

        await until(told, "events")


async def test_of_two_encoders_that_come_at_the_same_moment_one_stays(
    operated_namespace: OperatedNamespace,
    pod: IngestPod,
    other_pod: IngestPod,
    scripted_facade: ScriptedFacade,
) -> None:
    pods = {NAME: pod, OTHER: other_pod}
    async with operated(operated_namespace, *(gateway_of(each, name) for name, each in pods.items())):
        await operated_namespace.collection()
        await camera(operated_namespace)
        key = await stream_key(operated_namespace)
        scripted_facade.keys.add(key)
        with FfmpegEncoder(f"{pod.rtmp}/{key}") as one, FfmpegEncoder(f"{other_pod.rtmp}/{key}") as two:
            encoders = {NAME: one, OTHER: two}

            async def one_left() -> str | None:
                left = [name for name, each in encoders.items() if each.process.poll() is None]
                assert left, "both were disconnected"
                return left[0] if len(left) == 1 else None

            stays = await until(one_left, "one is left")
            await status_with(operated_namespace, connect="Connected", gateway=stays)
