"""One encoder replaces another while the network between them and the operator is cut: never two on air.

Operator's clients and agents are real and talk HTTPS; the server that they publish to gives its one place to
whoever came last, as servers of RTMP do.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.control_plane import free_port
from tests.support.cut_proxy import CutProxy, cut_proxy
from tests.support.small_program import small_program
from tests.support.worlds import pod

from onair_crds.contract.pod import CERTIFICATE
from onair_crds.contract.program import ProgramDestination
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent import changes, control_api
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.control_api import ControlApi
from onair_encoder.publish import operator_contact
from onair_encoder.publish.kinds import KINDS
from onair_encoder.publish.output import Output, Session
from onair_encoder.publish.session_error import SessionError
from onair_operator.encoder import client as client_module
from onair_operator.encoder import contact
from onair_operator.encoder.client import EncoderClient
from onair_operator.encoder.identity import OperatorKey, pod_identity

KEY = OperatorKey.generate()
MAIN = ProgramDestination(id="main", type="RTMP", url="rtmp://media.example/live")


@dataclass
class Server:
    """Keeps the newest of those that publish with one key."""

    on_air: list[int] = field(default_factory=list)
    """Epochs whose streams are open."""
    taken: list[int] = field(default_factory=list)
    """Epochs in the order in which they got the place."""
    kicks: dict[int, asyncio.Event] = field(default_factory=dict)


SERVER = Server()


class Publishing(Output):
    async def open(self) -> Session:
        epoch = self.destination.run.epoch
        for other in SERVER.on_air:
            SERVER.kicks[other].set()
        SERVER.kicks[epoch] = asyncio.Event()
        SERVER.taken.append(epoch)
        SERVER.on_air.append(epoch)
        return self

    async def run(self) -> None:
        self.destination.connected()
        await SERVER.kicks[self.destination.run.epoch].wait()
        raise SessionError("the server closed the connection", closed_by_peer=True)

    async def close(self) -> None:
        epoch = self.destination.run.epoch
        if epoch in SERVER.on_air:
            SERVER.on_air.remove(epoch)


@dataclass
class Encoder:
    agent: Agent
    proxy: CutProxy
    client: EncoderClient


@pytest.fixture
async def encoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Encoder, Encoder]]:
    """The first and the second encoder of a run; the first is on air."""

    async def no_pipeline(command: list[str] | None) -> None:
        await asyncio.sleep(0)

    for room, name, value in (
        (agent_module, "want_pipeline", no_pipeline),
        (changes, "HEARTBEAT_S", 0.1),
        (operator_contact, "LOST_AFTER_S", 0.5),
        (contact, "INTERVAL_S", 0.1),
        (contact, "REPLACED_RETRY_S", 0.1),
        (client_module, "SILENCE_TIMEOUT_S", 0.5),
        (client_module, "PUSH_TIMEOUT_S", 0.5),
        (client_module, "CONNECT_TIMEOUT_S", 0.5),
    ):
        monkeypatch.setattr(room, name, value)
    monkeypatch.setattr(ControlApi, "_host_is_ours", lambda *_: True)
    monkeypatch.setattr(client_module, "control_url", lambda ip, path: f"https://{ip}{path}")
    monkeypatch.setitem(KINDS, "RTMP", Publishing)
    for kept in (SERVER.on_air, SERVER.taken, SERVER.kicks):
        kept.clear()
    async with AsyncExitStack() as stack:
        both = [await start(stack, tmp_path, monkeypatch, epoch) for epoch in (1, 2)]
        await both[0].client.push(small_program(epoch=1, destinations=[MAIN]))
        await until(lambda: SERVER.on_air == [1])
        yield both[0], both[1]


async def start(stack: AsyncExitStack, folder: Path, monkeypatch: pytest.MonkeyPatch, epoch: int) -> Encoder:
    identity, home = pod_identity(KEY, dt.datetime.now(dt.UTC)), folder / str(epoch)
    home.mkdir()
    for name, text in identity.items():
        (home / name).write_text(text)
    agent = Agent(home / "program.json")
    stack.push_async_callback(agent.close)
    port = free_port()
    monkeypatch.setattr(control_api, "CONTROL_PORT", port)
    served = await ControlApi(agent, home, pod(epoch).name).start()
    stack.push_async_callback(served.cleanup)
    proxy = await stack.enter_async_context(cut_proxy(port))
    client = EncoderClient(pod(epoch, ip=f"127.0.0.1:{proxy.port}"), identity[CERTIFICATE], KEY, lambda: None)
    stack.push_async_callback(client.close)
    await until(lambda: client.connected)
    return Encoder(agent, proxy, client)


async def until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not check():  # noqa: ASYNC110 - a view cannot wake anybody
            await asyncio.sleep(0.01)


async def until_out_of_touch(encoder: Encoder) -> None:
    """Waits until no request is under way either: a connection that was open may bring a last one."""
    looks = 0

    def steadily() -> bool:
        nonlocal looks
        looks = looks + 1 if encoder.agent.contact.lost else 0
        return looks > 30

    await until(steadily)


def last_error(encoder: Encoder) -> str:
    (destination,) = encoder.agent.destinations
    return destination.state.last_error or ""


async def second_publishes(second: Encoder) -> None:
    await second.client.push(small_program(epoch=2, destinations=[MAIN]))
    await until(lambda: 2 in SERVER.taken)


async def test_an_encoder_in_reach_has_yielded_before_the_next_one_publishes(
    encoders: tuple[Encoder, Encoder],
) -> None:
    first, second = encoders
    first.client.replace()
    await until(lambda: first.client.view.yielded)
    assert SERVER.on_air == []
    await second_publishes(second)
    assert (SERVER.on_air, SERVER.taken) == ([2], [1, 2])
    assert first.agent.status().phase == "yielded"


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
async def test_an_encoder_that_cannot_be_reached_leaves_its_place_to_the_next_one(
    encoders: tuple[Encoder, Encoder], direction: str
) -> None:
    first, second = encoders
    setattr(first.proxy, direction, False)
    await until_out_of_touch(first)
    assert SERVER.on_air == [1], "what is connected stays connected"
    first.client.replace()
    await second_publishes(second)
    await until(lambda: "as the operator is out of touch" in last_error(first))
    assert (SERVER.on_air, SERVER.taken) == ([2], [1, 2])
    setattr(first.proxy, direction, True)
    await until(lambda: first.client.view.yielded)
    assert (SERVER.on_air, SERVER.taken) == ([2], [1, 2])


async def test_an_operator_that_is_away_costs_a_show_nothing(encoders: tuple[Encoder, Encoder]) -> None:
    first, _ = encoders
    await first.client.close()
    await until(lambda: first.agent.contact.lost)
    assert (SERVER.on_air, SERVER.taken) == ([1], [1])


async def test_an_encoder_whose_pod_object_is_gone_but_that_responds_is_told_to_yield(
    encoders: tuple[Encoder, Encoder],
) -> None:
    first, _ = encoders
    await first.client.part()
    assert first.agent.status().phase == "yielded"
    assert SERVER.on_air == []
