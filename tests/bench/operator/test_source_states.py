"""Measures how soon a source's status tells of its encoder, and how soon an edge claims a run.

A real encoder, MediaMTX and gateway. By RTMP a push begins when its first picture reaches the server, by SRT
with the hook's question, which comes before any media: its encoder holds no picture back.
"""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.gateway_server import SECRET, GatewayServer, stream_state
from tests.support.ingest.arrivals import Arrivals
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.ingest_operator import camera, operated, status_with
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_crds.kube.apis import CUSTOM, EVENTS, SECRETS
from onair_operator.cluster.event_budget import BURST
from onair_operator.settings import GatewaySettings

ROUNDS = 10
NO_LOOKAHEAD = ("-tune", "zerolatency")
"""Else half a second passes from the configuration of a push to its first picture."""
BOUND_S = 1.0
SILENT_S = 1.0
"""A source without media for so long is disconnected."""
SOURCES = 50


@pytest.mark.parametrize("protocol", ["rtmp", "srt"])
async def test_the_state_of_a_source_follows_its_encoder(
    operated_namespace: OperatedNamespace, tmp_path: Path, report: Callable[..., float], protocol: str
) -> None:
    connected, told, disconnected = [], [], []
    async with _pushed(operated_namespace, tmp_path, f"{protocol}Push") as pushed:
        for number in range(ROUNDS):
            pushed.arrivals.at_ms.clear()
            before = await _told(operated_namespace)

            async def asked(before: int = number) -> bool:
                return len(pushed.facade.asked) > before

            async def is_told(before: int = before) -> bool:
                return await _told(operated_namespace) > before

            url = pushed.rtmp if protocol == "rtmp" else pushed.pod.srt(f"publish:{pushed.key}")
            with FfmpegEncoder(url, options=NO_LOOKAHEAD) as encoder:
                await until(asked, "the hook's question")
                began = time.time()
                await status_with(operated_namespace, connect="Connected")
                if protocol == "rtmp":
                    began = min(pushed.arrivals.at_ms.values()) / 1000
                connected.append(time.time() - began)
                if number < BURST:  # of many in a row the further ones are counted now and again
                    await until(is_told, "its Event")
                    told.append(time.time() - began)
                disconnected.append(await _seconds_until_disconnected(operated_namespace, encoder))
    report(f"a push by {protocol.upper()} to Connected in the status", connected, "s", BOUND_S)
    report(f"a push by {protocol.upper()} to its Event", told, "s", BOUND_S)
    # By SRT a process that is killed says nothing, and its stream is silent
    bound_s = BOUND_S if protocol == "rtmp" else SILENT_S + BOUND_S
    report(f"an encoder killed, by {protocol.upper()}, to Disconnected", disconnected, "s", bound_s)


@pytest.mark.parametrize(
    ("sends", "encoder"),
    [
        ("video alone", {"audio": [], "options": NO_LOOKAHEAD}),
        ("audio alone", {"video": []}),
        ("both, and names neither", {"options": (*NO_LOOKAHEAD, "-flvflags", "no_metadata")}),
    ],
)
async def test_who_does_not_name_both_is_connected_as_soon(
    operated_namespace: OperatedNamespace,
    tmp_path: Path,
    report: Callable[..., float],
    sends: str,
    encoder: Any,
) -> None:
    connected: list[float] = []
    async with _pushed(operated_namespace, tmp_path, "rtmpPush") as pushed:
        for _ in range(ROUNDS):
            pushed.arrivals.first_media_ms = None
            with FfmpegEncoder(pushed.rtmp, **encoder) as pushing:
                await status_with(operated_namespace, connect="Connected")
                assert pushed.arrivals.first_media_ms
                connected.append(time.time() - pushed.arrivals.first_media_ms / 1000)
                await _seconds_until_disconnected(operated_namespace, pushing)
    report(f"a push by RTMP of {sends} to Connected", connected, "s", BOUND_S)


async def _told(operated_namespace: OperatedNamespace) -> int:
    """How often Events said that the source is connected."""
    events = (await operated_namespace.client.list(EVENTS, operated_namespace.namespace))["items"]
    return sum(each.get("count") or 1 for each in events if each["reason"] == "SourceConnected")


@dataclass(frozen=True)
class _Camera:
    facade: ScriptedFacade
    pod: IngestPod
    arrivals: Arrivals
    key: str

    @property
    def rtmp(self) -> str:
        return f"rtmp://{self.arrivals.host}:{self.arrivals.port}/live/{self.key}"


@asynccontextmanager
async def _pushed(operated_namespace: OperatedNamespace, folder: Path, kind: str) -> AsyncIterator[_Camera]:
    """A camera that may be pushed, and an operator that knows of it."""
    with (
        ScriptedFacade(SECRET) as facade,
        IngestPod(folder, facade.url, SECRET) as pod,
        Arrivals("127.0.0.1", pod.rtmp_port) as arrivals,
    ):
        gateway = GatewaySettings(name="onair-ingest-0", url=f"http://127.0.0.1:{pod.port}")
        async with operated(operated_namespace, gateway):
            await operated_namespace.collection()
            await camera(operated_namespace, **{kind: {}})
            secret = await operated_namespace.client.get(
                SECRETS, operated_namespace.namespace, "source-camera"
            )
            key = base64.b64decode(secret["data"]["streamKey"]).decode()
            facade.keys.add(key)
            yield _Camera(facade, pod, arrivals, key)


async def _seconds_until_disconnected(operated_namespace: OperatedNamespace, encoder: FfmpegEncoder) -> float:
    encoder.process.kill()
    began = time.monotonic()
    await status_with(operated_namespace, connect="Disconnected")
    return time.monotonic() - began


async def test_fifty_sources_that_connect_at_once(
    operated_namespace: OperatedNamespace, report: Callable[..., float]
) -> None:
    async with GatewayServer().running() as server, operated(operated_namespace, server.settings):
        await operated_namespace.collection()
        names = [f"camera-{number}" for number in range(SOURCES)]
        for name in names:
            await operated_namespace.create(
                "Source", name, {"collectionId": "sunday", "address": {"rtmpPush": {}}}
            )

        async def streams() -> list[str] | None:
            secrets = (await operated_namespace.client.list(SECRETS, operated_namespace.namespace))["items"]
            keys = [each["data"]["streamKey"] for each in secrets if each["metadata"]["name"][7:] in names]
            found = [stream_of_key(base64.b64decode(each).decode()) for each in keys]
            return found if len(found) == SOURCES else None

        found = await until(streams, "all keys")
        began = time.monotonic()
        for stream in found:
            server.tell(stream_state(stream))

        async def all_connected() -> bool:
            sources = (await operated_namespace.client.list(CUSTOM["Source"], operated_namespace.namespace))[
                "items"
            ]
            return all((each.get("status") or {}).get("connect") == "Connected" for each in sources)

        await until(all_connected, "all connected")
        report(f"{SOURCES} sources that flow at once to Connected", [time.monotonic() - began], "s", BOUND_S)


async def test_an_edge_that_has_lasted_claims_a_run(
    operated_namespace: OperatedNamespace, report: Callable[..., float]
) -> None:
    """Beyond the second that a source has to be there."""
    late = []
    async with GatewayServer().running() as server, operated(operated_namespace, server.settings):
        await operated_namespace.collection()
        stream = await camera(operated_namespace)
        trigger = {"sourceId": "camera", "trigger": {"start": "Or"}}
        for number in range(ROUNDS):
            name = f"show-{number}"
            composition = {"external": {"url": "http://graphics.example/stage"}}
            spec = {"collectionId": "sunday", "composition": composition, "sources": [trigger]}
            await operated_namespace.create("Project", name, spec)

            async def counted(name: str = name) -> bool:
                status = ((await operated_namespace.get("Project", name)) or {}).get("status", {})
                return bool(status.get("triggers"))

            await until(counted, "the trigger is known")
            began = time.monotonic()
            server.tell(stream_state(stream))
            await operated_namespace.phase("Waiting", name)
            late.append(time.monotonic() - began - 1.0)
            server.tell(stream_state(stream, online=False, flowing=False))
            await status_with(operated_namespace, connect="Disconnected")
            await operated_namespace.client.delete(CUSTOM["Project"], operated_namespace.namespace, name)
    report("a start edge that has lasted to its run", late, "s", BOUND_S)
