"""One encoder replaces another while the network between them and the operator is cut: never two on air.

Operator's clients and agents are real and talk HTTPS; the server that they publish to gives its one place to
whoever came last, as servers of RTMP do.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.cut_proxy import CutProxy, cut_proxy
from tests.support.exclusive_server import OUT_OF_TOUCH, Agents, ExclusiveServer, last_error
from tests.support.small_program import small_program
from tests.support.waiting import until
from tests.support.worlds import pod

from onair_crds.contract.pod import CERTIFICATE
from onair_crds.contract.program import ProgramDestination
from onair_encoder.agent.agent import Agent
from onair_operator.encoder import connection, contact
from onair_operator.encoder.client import EncoderClient
from onair_operator.encoder.pod_identity import OperatorKey, pod_identity

KEY = OperatorKey.generate()
MAIN = ProgramDestination(id="main", type="RTMP", url="rtmp://media.example/live")


@dataclass
class ProxiedEncoder:
    agent: Agent
    proxy: CutProxy
    client: EncoderClient


@dataclass
class HandoverRun:
    """The first encoder is on air, the second has no programme yet."""

    server: ExclusiveServer
    first: ProxiedEncoder
    second: ProxiedEncoder


@pytest.fixture
async def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HandoverRun]:
    for room, name, value in (
        (contact, "INTERVAL_S", 0.1),
        (contact, "REPLACED_RETRY_S", 0.1),
        (connection, "SILENCE_TIMEOUT_S", 0.5),
        (connection, "PUSH_TIMEOUT_S", 0.5),
        (connection, "CONNECT_TIMEOUT_S", 0.5),
    ):
        monkeypatch.setattr(room, name, value)
    monkeypatch.setattr(connection, "control_url", lambda ip, path: f"https://{ip}{path}")
    server = ExclusiveServer()
    async with AsyncExitStack() as stack:
        agents = Agents(tmp_path, server, monkeypatch)
        stack.push_async_callback(agents.close)
        run = HandoverRun(server, *[await start(stack, agents, epoch) for epoch in (1, 2)])
        run.first.client.push.want(small_program(epoch=1, destinations=[MAIN]))
        await until(lambda: server.on_air == [1])
        yield run


async def start(stack: AsyncExitStack, agents: Agents, epoch: int) -> ProxiedEncoder:
    identity = pod_identity(KEY, dt.datetime.now(dt.UTC))
    agent, port = await agents.start(pod(epoch).name, identity)
    proxy = await stack.enter_async_context(cut_proxy(port))
    where = pod(epoch, ip=f"127.0.0.1:{proxy.port}")
    client = EncoderClient(where, identity[CERTIFICATE], KEY, lambda: None)
    stack.push_async_callback(client.close)
    await until(lambda: client.connected)
    return ProxiedEncoder(agent, proxy, client)


async def until_out_of_touch(encoder: ProxiedEncoder) -> None:
    """Waits until no request is under way either: a connection that was open may bring a last one."""
    looks = 0

    def steadily() -> bool:
        nonlocal looks
        looks = looks + 1 if encoder.agent.contact.lost else 0
        return looks > 30

    await until(steadily)


async def second_publishes(run: HandoverRun) -> None:
    run.second.client.push.want(small_program(epoch=2, destinations=[MAIN]))
    await until(lambda: 2 in run.server.taken)


async def test_an_encoder_in_reach_has_yielded_before_the_next_one_publishes(run: HandoverRun) -> None:
    run.first.client.replace()
    await until(lambda: run.first.client.view.yielded)
    assert run.server.on_air == []
    await second_publishes(run)
    assert (run.server.on_air, run.server.taken) == ([2], [1, 2])
    assert run.first.agent.status().phase == "yielded"


@pytest.mark.parametrize("direction", ["to_server", "to_client"])
async def test_an_encoder_that_cannot_be_reached_leaves_its_place_to_the_next_one(
    run: HandoverRun, direction: str
) -> None:
    first, server = run.first, run.server
    setattr(first.proxy, direction, False)
    await until_out_of_touch(first)
    assert server.on_air == [1], "what is connected stays connected"
    first.client.replace()
    await second_publishes(run)
    await until(lambda: OUT_OF_TOUCH in last_error(first.agent))
    assert (server.on_air, server.taken) == ([2], [1, 2])
    setattr(first.proxy, direction, True)
    await until(lambda: first.client.view.yielded)
    assert (server.on_air, server.taken) == ([2], [1, 2])


async def test_an_operator_that_is_away_costs_a_show_nothing(run: HandoverRun) -> None:
    await run.first.client.close()
    await until(lambda: run.first.agent.contact.lost)
    assert (run.server.on_air, run.server.taken) == ([1], [1])


async def test_an_encoder_whose_pod_object_is_gone_but_that_responds_is_told_to_yield(
    run: HandoverRun,
) -> None:
    await run.first.client.part()
    assert run.first.agent.status().phase == "yielded"
    assert run.server.on_air == []
