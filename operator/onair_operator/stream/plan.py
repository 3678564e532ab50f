"""Plans the end of publishers that may not stay: of sources that are disabled, changed or gone. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from onair_operator.cluster.actions import Action, CutOff, Requeue
from onair_operator.cluster.queue import Key
from onair_operator.cluster.watched_kinds import STREAM
from onair_operator.settings import OperatorSettings
from onair_operator.source.admission import may_stay
from onair_operator.stream.observe import ObservedStream

RETRY_S = 1.0
"""To a gateway that goes on telling of the stream."""


def make_plan(observed: ObservedStream, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Cuts off wherever it is online; what a gateway pulls ends by what it is told to pull."""
    return list(_cut_offs(observed))


def _cut_offs(observed: ObservedStream) -> Iterator[Action]:
    source = observed.source
    ended = [
        each
        for each in observed.sightings
        if each.online and each.state.protocol != "pull" and not (source and may_stay(source, each.state))
    ]
    for each in ended:
        yield CutOff(each.gateway.name, observed.stream, unknown=source is None)
    if ended:
        yield Requeue(Key(STREAM, observed.stream), RETRY_S)
