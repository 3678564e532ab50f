"""A Delivery that records what it was sent and what it reports of each destination, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise

from tests.support.delivery.far_end import DecodingTimes
from tests.support.waiting import until

from onair_crds.contract.program import DestinationState, ProgramDestination
from onair_crds.media.flv import AUDIO, VIDEO, Packet
from onair_crds.resources.enums import ConnectState
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.delivery import Delivery

CONNECTED, DISCONNECTED = ConnectState.CONNECTED, ConnectState.DISCONNECTED


class SentPackets:
    """All packets of the programme since it was made, from the last key frame on."""

    def __init__(self, fan_out: FanOut) -> None:
        self._packets = [packet for packet in fan_out.subscribe(self) if not packet.header]

    def packet(self, packet: Packet) -> None:
        if not packet.header:
            self._packets.append(packet)

    def times(self, type_: int) -> list[float]:
        return [p.timestamp_ms / 1000 for p in self._packets if p.type == type_]

    @property
    def seconds(self) -> float:
        """Of the programme's time, from the first frame to the last."""
        times = self.times(VIDEO)
        return times[-1] - times[0]


class WatchedDelivery:
    def __init__(self, fan_out: FanOut) -> None:
        self.history: dict[str, list[tuple[ConnectState, str | None]]] = {}
        self._changed = asyncio.Event()
        self.delivery = Delivery(fan_out, self._note)

    def want(self, *destinations: ProgramDestination) -> None:
        self.delivery.want(destinations)

    def _note(self) -> None:
        for state in self.delivery.states:
            reported = self.history.setdefault(state.id, [])
            if not reported or reported[-1] != (state.connect, state.last_error):
                reported.append((state.connect, state.last_error))
        self._changed.set()

    def state(self, id_: str) -> DestinationState:
        return next(state for state in self.delivery.states if state.id == id_)

    def errors(self, id_: str) -> str:
        """All errors that were reported of a destination so far."""
        return " | ".join(error for _, error in self.history.get(id_, []) if error)

    async def until(self, what: Callable[[], bool], timeout_s: float = 10.0) -> None:
        await until(what, timeout_s=timeout_s, state=lambda: f"reported: {self.history}")

    async def connected(self, *ids: str, timeout_s: float = 10.0) -> None:
        await self.until(lambda: all(self.state(i).connect is CONNECTED for i in ids), timeout_s)

    async def reports(self, id_: str, words: str, timeout_s: float = 10.0) -> None:
        """Waits until a destination is disconnected with these words."""
        await self.until(
            lambda: any(c is DISCONNECTED and e and words in e for c, e in self.history.get(id_, [])),
            timeout_s,
        )


def assert_every_packet_once(
    recorded: DecodingTimes, sent: SentPackets, *, least_s: float, name: str = ""
) -> None:
    """What was received is an unbroken part of what was sent, by the distances of its timestamps.

    Args:
        name: of the destination, for errors.
    """
    for kind, type_, got in (("video", VIDEO, recorded.video), ("audio", AUDIO, recorded.audio)):
        given = sent.times(type_)
        assert got, f"no {kind} was received"
        assert got[-1] - got[0] >= least_s, f"{kind} of {got[-1] - got[0]:.2f} s"
        assert any(
            all(abs((g - got[0]) - (s - start)) < 0.004 for g, s in zip(got, given[at:], strict=False))
            for at, start in enumerate(given[: len(given) - len(got) + 1])
        ), f"{name} {kind} has a hole or a duplicate: {_oddities(got, 0.04)}"


def _oddities(times: list[float], longest_s: float) -> list[tuple[float, float]]:
    """Steps that go back, stand still or leap."""
    return [(a, b) for a, b in pairwise(times) if not 0 < b - a < longest_s]
