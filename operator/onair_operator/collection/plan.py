"""Accepts collections. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.resources.collection import CollectionStatus
from onair_operator.cluster.actions import Action, WriteStatus
from onair_operator.collection.observe import ObservedCollection
from onair_operator.settings import OperatorSettings
from onair_operator.specs.ready import Verdict, with_ready


def make_plan(observed: ObservedCollection, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Writes that the collection is ready; a deleted one is left alone."""
    collection = observed.collection
    verdict = Verdict(True, "Accepted", "projects and sources may refer to it")
    status = CollectionStatus(
        observed_generation=collection.generation,
        conditions=with_ready(collection.status.conditions, verdict, collection.generation, now),
    )
    if collection.deleting or status == collection.status:
        return []
    return [WriteStatus(collection, status)]
