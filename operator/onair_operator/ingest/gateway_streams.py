"""The streams that gateways report: the newest state of each gateway, in memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from onair_crds.contract.ingest_gateway import StreamState
from onair_operator.ingest.ended_streams import EndedStreams
from onair_operator.ingest.observed import GatewayContact, GatewayView, Sighting
from onair_operator.settings import GatewaySettings


@dataclass(frozen=True)
class News:
    """What a gateway has told."""

    gateway: str
    streams: frozenset[str]
    """Those that it has told something new of."""
    contact: bool = False
    """Whether it has told all, or can be reached no longer."""


class GatewayStreams:
    """What each gateway told, under the gateway's name."""

    def __init__(
        self,
        gateways: Iterable[GatewaySettings] = (),
        changed: Callable[[News], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._views = {
            each.name: GatewayView(each.name, each.region, GatewayContact.AWAITED) for each in gateways
        }
        self._online: dict[str, dict[str, StreamState]] = {name: {} for name in self._views}
        self._ended = {name: EndedStreams() for name in self._views}
        self._came_s: dict[str, dict[str, float]] = {name: {} for name in self._views}
        """When each that is online came."""
        self._clock = clock
        self._changed = changed or (lambda news: None)

    @property
    def gateways(self) -> tuple[GatewayView, ...]:
        """All gateways, in the order of the settings."""
        return tuple(self._views.values())

    def sightings(self, stream: str) -> tuple[Sighting, ...]:
        """A stream at each gateway that has reported it."""
        found = []
        for name, view in self._views.items():
            state = self._online[name].get(stream) or self._ended[name].get(stream)
            if state:
                found.append(Sighting(view, state, self._came_s[name].get(stream, 0.0)))
        return tuple(found)

    def online(self, gateway: str) -> int:
        """How many streams a gateway has."""
        return len(self._online[gateway])

    def heard(self, gateway: str) -> None:
        """Notes that what a gateway has told is still so."""
        self._views[gateway] = replace(self._views[gateway], heard_s=self._clock())

    def wanted_pulls(self, gateway: str) -> AbstractSet[str] | None:
        """The pulls that a gateway is to have; None if nobody has said so."""
        return self._ended[gateway].wanted

    def want_pulls(self, gateway: str, pulls: AbstractSet[str]) -> None:
        """Remembers of these pulls why they fail, until others are wanted."""
        self._ended[gateway].want(pulls)

    def told(self, gateway: str, state: StreamState) -> None:
        """Takes a gateway's word on one stream."""
        self._put(gateway, state)
        self._changed(News(gateway, frozenset({state.stream})))

    def forget(self, gateway: str, stream: str) -> None:
        """Takes it that nothing is known of a stream at a gateway."""
        self._came_s[gateway].pop(stream, None)
        known = self._online[gateway].pop(stream, None), self._ended[gateway].pop(stream)
        if any(known):
            self._changed(News(gateway, frozenset({stream})))

    def told_all(self, gateway: str, states: Iterable[StreamState]) -> None:
        """Takes a gateway's word on all of its streams: it can be reached, and others are not there."""
        ended = self._ended[gateway]
        streams = self._online[gateway].keys() | {each.stream for each in ended}
        self._online[gateway], self._ended[gateway] = {}, EndedStreams(ended.wanted)
        self._came_s[gateway] = {}
        for state in states:
            self._put(gateway, state)
            streams.add(state.stream)
        self._views[gateway] = replace(self._views[gateway], contact=GatewayContact.REACHABLE)
        self.heard(gateway)
        self._changed(News(gateway, frozenset(streams), contact=True))

    def unreachable(self, gateway: str) -> None:
        """Marks the streams of a gateway as unknown, until it has reported all of them again."""
        self._views[gateway] = replace(self._views[gateway], contact=GatewayContact.UNREACHABLE)
        self._changed(News(gateway, frozenset(self._online[gateway]), contact=True))

    def _put(self, gateway: str, state: StreamState) -> None:
        online, ended = self._online[gateway], self._ended[gateway]
        if state.online:
            ended.pop(state.stream)
            online[state.stream] = state
            self._came_s[gateway].setdefault(state.stream, self._clock())
            return
        online.pop(state.stream, None)
        self._came_s[gateway].pop(state.stream, None)
        ended.put(state)
