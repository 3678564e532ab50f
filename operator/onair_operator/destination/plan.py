"""Plans for a destination without a project; the plan of a project has the others. Pure."""

from __future__ import annotations

import datetime as dt

from onair_operator.cluster.actions import Action, WriteStatus
from onair_operator.destination.events import destination_events
from onair_operator.destination.observe import ObservedDestination
from onair_operator.destination.status import status_without_project
from onair_operator.settings import OperatorSettings


def make_plan(observed: ObservedDestination, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Says that the project does not exist."""
    destination = observed.destination
    if observed.project_exists or destination.deleting:
        return []
    status = status_without_project(destination, now)
    if status == destination.status:
        return []
    return [WriteStatus(destination, status), *destination_events(destination, status, None)]
