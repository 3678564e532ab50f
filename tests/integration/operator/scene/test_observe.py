"""A scene that kubectl makes and changes reaches the page by the operator alone."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from tests.support.exclusive_server import Agents, ExclusiveServer
from tests.support.operated_namespace import OperatedNamespace
from tests.support.scenes import PageConnection

from onair_crds.kube.apis import SECRETS
from onair_crds.shapes import Document, JsonObject
from onair_encoder.loopback import serve
from onair_operator.encoder import connection

POD = "show-first-1"
CATCH_UP_S = 15.0


def layers(x: int) -> list[Document]:
    return [
        {"id": "root", "type": "root", "children": ["left"]},
        {"id": "left", "type": "square", "x": x},
    ]


async def add(operated_namespace: OperatedNamespace, name: str, x: int) -> None:
    spec = {"projectId": "show", "type": "Scene", "layers": layers(x)}
    await operated_namespace.create("Layout", name, spec)


@pytest.fixture
async def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Agents]:
    agents = Agents(tmp_path, ExclusiveServer(), monkeypatch)
    yield agents
    await agents.close()


@asynccontextmanager
async def page_of(
    operated_namespace: OperatedNamespace, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PageConnection]:
    """The page of the show's pod: the test is its kubelet."""
    await operated_namespace.pod(POD)
    secret = await operated_namespace.client.get(SECRETS, operated_namespace.namespace, POD)
    identity = {name: base64.b64decode(value).decode() for name, value in secret["data"].items()}
    agent, port = await agents.start(POD, identity)
    monkeypatch.setattr(connection, "control_url", lambda ip, path: f"https://{ip}:{port}{path}")
    served: web.AppRunner = await serve("127.0.0.1", 0, agent.page.scene.add_to)
    address = "127.0.0.1"
    await operated_namespace.bind(POD, "node-a")
    await operated_namespace.pod_is(POD, {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]})
    async with PageConnection.connected(f"http://{address}:{served.addresses[0][1]}") as page:
        yield page
    await served.cleanup()


async def selected(page: PageConnection, layout: str) -> JsonObject:
    """A layout that is selected, once the page has it: it may come after its selection."""
    while True:
        state = await page.told(CATCH_UP_S)
        if state["type"] == "state" and state["selectedLayoutId"] == layout:
            for each in state["layouts"]:
                if each["id"] == layout:
                    return dict(each)


async def moved(page: PageConnection, x: int) -> int:
    """How many changes the page was told until the layer was there."""
    told = 0
    while True:
        change = await page.told(CATCH_UP_S)
        assert change["type"] == "layers", "a change of layers is no more than that"
        told += 1
        if [each["x"] for each in change["upsert"] if each["id"] == "left"] == [x]:
            return told


async def test_a_scene_follows_kubectl_and_outlives_its_operator(
    operated_namespace: OperatedNamespace, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    await operated_namespace.collection()
    await add(operated_namespace, "older", 0)
    await add(operated_namespace, "stage", 1)
    await operated_namespace.project(broadcast={"state": "Running", "id": "first"}, composition={"scene": {}})
    async with operated_namespace.operator(), page_of(operated_namespace, agents, monkeypatch) as page:
        stage = await selected(page, "stage")
        assert [each["id"] for each in stage["layers"]] == ["root", "left"]
        await operated_namespace.patch("Layout", "stage", {"layers": layers(2)})
        await moved(page, 2)
        began = time.monotonic()
        for x in range(100, 130):
            await operated_namespace.patch("Layout", "stage", {"layers": layers(x)})
        assert await moved(page, 129) <= time.monotonic() - began + 2, "one a second"
        await add(operated_namespace, "finale", 7)
        await operated_namespace.patch(
            "Project", "show", {"composition": {"scene": {"selectedLayoutId": "finale"}}}
        )
        await selected(page, "finale")


async def test_what_changes_while_no_operator_is_there_comes_with_the_next_one(
    operated_namespace: OperatedNamespace, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    await operated_namespace.collection()
    await add(operated_namespace, "stage", 1)
    await operated_namespace.project(broadcast={"state": "Running", "id": "first"}, composition={"scene": {}})
    async with AsyncExitStack() as stack:
        async with operated_namespace.operator():
            page = await stack.enter_async_context(page_of(operated_namespace, agents, monkeypatch))
            await selected(page, "stage")
        await operated_namespace.patch("Layout", "stage", {"layers": layers(9)})
        await add(operated_namespace, "newer", 3)
        async with operated_namespace.operator():
            stage = await selected(page, "stage")
            assert [each["x"] for each in stage["layers"] if each["id"] == "left"] == [9]
