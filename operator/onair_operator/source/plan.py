"""Plans a source: its state, its key, its collection. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from onair_operator.cluster.actions import Action, CreateStreamKey, WriteStatus
from onair_operator.cluster.adoption import follow_owner
from onair_operator.settings import OperatorSettings
from onair_operator.source.events import source_events
from onair_operator.source.observe import ObservedSource
from onair_operator.source.status import present_sighting, source_status


def make_plan(observed: ObservedSource, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Writes what gateways say, makes a key where there is none, and has it go with its collection."""
    if observed.source.deleting:
        return []
    return [*_create_key(observed), *_write_status(observed, now, settings), *_adopt(observed)]


def _create_key(observed: ObservedSource) -> Iterator[Action]:
    """The facade makes the keys of its sources itself, before it makes them."""
    if observed.source.pushed and not observed.has_secret:
        yield CreateStreamKey(observed.source)


def _write_status(observed: ObservedSource, now: dt.datetime, settings: OperatorSettings) -> Iterator[Action]:
    source = observed.source
    status = source_status(observed, settings, now)
    if status != source.status:
        yield WriteStatus(source, status)
        yield from source_events(source, status, present_sighting(observed))


def _adopt(observed: ObservedSource) -> Iterator[Action]:
    if observed.collection:
        yield from follow_owner(observed.source, observed.collection)
