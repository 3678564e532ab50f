"""Gives sources to their collection. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.owners import is_owned_by
from onair_operator.cluster.actions import Action, Adopt
from onair_operator.settings import OperatorSettings
from onair_operator.source.observe import ObservedSource


def make_plan(observed: ObservedSource, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Makes the collection the source's owner, so that the source is deleted with it."""
    source, collection = observed.source, observed.collection
    if collection is None or collection.deleting or source.deleting:
        return []
    if is_owned_by(source.metadata, collection.uid):
        return []
    return [Adopt(source, collection)]
