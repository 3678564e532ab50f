"""Plans the end of publishers that may not stay: of sources disabled, changed, gone or sent twice. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from onair_crds.resources.enums import ConnectState
from onair_operator.cluster.actions import Action, CutOff, Requeue, ResourceEvent
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import STREAM
from onair_operator.ingest.observed import Sighting
from onair_operator.settings import OperatorSettings
from onair_operator.source.admission import may_stay
from onair_operator.stream.observe import ObservedStream

RETRY_S = 1.0
"""To a gateway that keeps reporting the stream."""
HEARD_S = 0.1
"""Until it is looked at again whether the holder's gateway has been heard since."""


def make_plan(observed: ObservedStream, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Disconnects it wherever it is online; a pull ends when the gateway is no longer to pull it."""
    return list(_cut_offs(observed))


def _cut_offs(observed: ObservedStream) -> Iterator[Action]:
    source = observed.source
    pushed = [each for each in observed.sightings if each.online and each.state.protocol != "pull"]
    ended = [each for each in pushed if not (source and may_stay(source, each.state))]
    holder, others = _doubles(observed, [each for each in pushed if each not in ended])
    certain = [each for each in others if holder and holder.gateway.heard_s > each.came_s]
    for each in (*ended, *certain):
        yield CutOff(each.gateway.name, observed.stream, unknown=source is None)
    for each in certain:
        if source and holder:
            message = f"{each.gateway.name} had a second publisher, while {holder.gateway.name} has one"
            yield ResourceEvent(source, "SecondPublisher", f"disconnected: {message}", warning=True)
    if ended or others:
        yield Requeue(Key(STREAM, observed.stream), RETRY_S if ended or certain else HEARD_S)


def _doubles(observed: ObservedStream, publishers: list[Sighting]) -> tuple[Sighting | None, list[Sighting]]:
    """The publisher that is the source by its status, while it sends, and those next to it.

    Gateways that ask at the same moment, or a facade that is not up to date, let two in. Only a status that
    is written decides: two looks at a changing pair would each end another one. And only a gateway that was
    heard since the other publisher came: one that has just died may be what that one comes from.
    """
    status = observed.source.status if observed.source else None
    if status is None or status.connect is not ConnectState.CONNECTED or status.stream != observed.stream:
        return None, []
    holder = next((each for each in publishers if each.gateway.name == status.gateway), None)
    if holder is None or not holder.flowing:
        return None, []
    return holder, [each for each in publishers if each is not holder]
