"""A page of the studio hears which sources and destinations are connected, and no other page does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from pydantic import SecretStr
from tests.support.small_program import small_program

from onair_crds.contract.program import Program, ProgramDestination, ProgramSource
from onair_crds.shapes import JsonObject
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.engine_socket import EngineSocket
from onair_encoder.loopback import serve
from onair_encoder.publish.supplied_destination import SuppliedDestination

STUDIO = "https://studio.example"


def program(revision: int, *sources: str) -> Program:
    shown = [
        ProgramSource(id=name, gateway="http://gateway", stream=name, token=SecretStr("t"))
        for name in sources
    ]
    return small_program(composition_url=f"{STUDIO}/renderer/3/", sources=shown, revision=revision)


@pytest.fixture
async def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Agent]:
    async def no_pipeline(command: list[str] | None) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(agent_module, "want_pipeline", no_pipeline)
    agent = Agent(tmp_path / "program.json")
    yield agent
    await agent.close()


@pytest.fixture
async def address(agent: Agent) -> AsyncIterator[str]:
    runner = await serve("127.0.0.1", 0, EngineSocket(agent).add_to)
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def heard(socket: aiohttp.ClientWebSocketResponse) -> JsonObject:
    async with asyncio.timeout(5):
        message: JsonObject = json.loads(await socket.receive_str())
        return message


async def test_the_page_hears_the_state_and_then_each_source_that_comes_or_goes(
    agent: Agent, address: str
) -> None:
    await agent.take(program(1, "camera"))
    headers = {"Origin": STUDIO}
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{address}/?token=x", headers=headers) as socket,
    ):
        state = {"destinations": [], "sources": [{"id": "camera", "connected": True}]}
        assert await heard(socket) == {"name": "state", "payload": state}
        await agent.take(program(2, "phone"))
        assert await heard(socket) == {"name": "source.disconnect", "payload": {"id": "camera"}}
        assert await heard(socket) == {"name": "source.connect", "payload": {"id": "phone"}}


async def test_the_state_says_which_destinations_are_connected(
    agent: Agent, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_connected(connected: bool, each: SuppliedDestination) -> bool:
        return connected and each.wanted.id == "a"

    wanted = [ProgramDestination(id=name, type="RTMP", url=f"rtmp://127.0.0.1:1/{name}") for name in "ab"]
    await agent.take(program(1).model_copy(update={"destinations": wanted}))
    async with aiohttp.ClientSession() as session:
        for connected in (False, True):
            monkeypatch.setattr(
                SuppliedDestination, "is_connected", property(partial(is_connected, connected))
            )
            async with session.ws_connect(address, headers={"Origin": STUDIO}) as socket:
                said = (await heard(socket))["payload"]["destinations"]
            by_id = sorted(said, key=lambda each: str(each["id"]))
            assert by_id == [{"id": "a", "connected": connected}, {"id": "b", "connected": False}]


@pytest.mark.parametrize("origin", ["https://other.example", "null"])
async def test_another_page_hears_nothing(agent: Agent, address: str, origin: str) -> None:
    await agent.take(program(1, "camera"))
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(address, headers={"Origin": origin})
