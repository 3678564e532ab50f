"""Plans for a destination that breaks a rule or has no project; its project has the others. Pure."""

from __future__ import annotations

import datetime as dt

from onair_operator.cluster.actions import Action, WriteStatus
from onair_operator.destination.events import destination_events
from onair_operator.destination.observe import ObservedDestination
from onair_operator.destination.status import status_of_invalid, status_without_project
from onair_operator.settings import OperatorSettings


def make_plan(observed: ObservedDestination, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Says that it breaks rules, or that the project does not exist."""
    destination = observed.destination
    if destination.deleting or observed.awaited:
        return []
    if observed.invalid:
        status = status_of_invalid(destination, observed.invalid, observed.reported, now)
    elif not observed.project_exists:
        status = status_without_project(destination, now)
    else:
        return []
    if status == destination.status:
        return []
    return [WriteStatus(destination, status), *destination_events(destination, status, None)]
