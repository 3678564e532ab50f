"""A server that gives its one place to whoever publishes last, as RTMP does, and agents that use it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from tests.support.control_plane import free_port

from onair_crds.session_error import SessionError
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent import changes, control_api
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.control_api import ControlApi
from onair_encoder.publish import operator_contact
from onair_encoder.publish.destination_kinds import KINDS
from onair_encoder.publish.output import DeliverySession, Output


@dataclass
class ExclusiveServer:
    on_air: list[int] = field(default_factory=list)
    """Epochs whose streams are open."""
    taken: list[int] = field(default_factory=list)
    """Epochs in the order in which they got the place."""
    at_a_time: int = 0
    """How many streams were open at once, at most."""
    closed: dict[int, asyncio.Event] = field(default_factory=dict)

    def open(self, epoch: int) -> None:
        for other in self.on_air:
            self.closed[other].set()
        self.closed[epoch] = asyncio.Event()
        self.taken.append(epoch)
        self.on_air.append(epoch)
        self.at_a_time = max(self.at_a_time, len(self.on_air))

    def close(self, epoch: int) -> None:
        if epoch in self.on_air:
            self.on_air.remove(epoch)


def publishes_to(server: ExclusiveServer) -> type[Output]:
    """A kind of destination whose sessions are with this server."""

    class Publishing(Output):
        async def open(self) -> DeliverySession:
            server.open(self.destination.run.epoch)
            return self

        async def run(self) -> None:
            self.destination.connected()
            await server.closed[self.destination.run.epoch].wait()
            raise SessionError("the server closed the connection", closed_by_peer=True)

        async def close(self) -> None:
            server.close(self.destination.run.epoch)

    return Publishing


class Agents:
    """Agents in this process, with nothing that encodes; they lose contact within half a second."""

    def __init__(self, folder: Path, server: ExclusiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
        async def no_pipeline(command: list[str] | None) -> None:
            await asyncio.sleep(0)

        monkeypatch.setattr(agent_module, "want_pipeline", no_pipeline)
        monkeypatch.setattr(changes, "HEARTBEAT_S", 0.1)
        monkeypatch.setattr(operator_contact, "LOST_AFTER_S", 0.5)
        monkeypatch.setattr(ControlApi, "_host_is_ours", lambda *_: True)
        monkeypatch.setitem(KINDS, "RTMP", publishes_to(server))
        self._folder, self._monkeypatch = folder, monkeypatch
        self._started: list[tuple[Agent, web.AppRunner]] = []

    async def start(self, pod: str, identity: dict[str, str]) -> tuple[Agent, int]:
        """The agent of a pod, and the port of its control API."""
        home = self._folder / pod
        home.mkdir()
        for name, text in identity.items():
            (home / name).write_text(text)
        agent, port = Agent(home / "program.json"), free_port()
        self._monkeypatch.setattr(control_api, "CONTROL_PORT", port)
        self._started.append((agent, await ControlApi(agent, home, pod).start()))
        return agent, port

    async def close(self) -> None:
        for agent, served in self._started:
            await agent.close()
            await served.cleanup()


def last_error(agent: Agent) -> str:
    (destination,) = agent.destinations
    return destination.state.last_error or ""


OUT_OF_TOUCH = "as the operator is out of touch"
"""In the error of a destination that leaves its place to another encoder."""
