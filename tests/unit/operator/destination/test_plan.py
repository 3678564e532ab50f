"""A destination without a project reports it."""

from __future__ import annotations

from tests.support.worlds import NOW, SETTINGS, destination

from onair_crds.resources.destination import DestinationStatus
from onair_operator.cluster.actions import ResourceEvent, WriteStatus
from onair_operator.destination.observe import ObservedDestination
from onair_operator.destination.plan import make_plan


def test_a_destination_without_a_project_reports_it_once() -> None:
    observed = ObservedDestination(destination(), project_exists=False)
    write, event = make_plan(observed, NOW, SETTINGS)
    assert isinstance(write, WriteStatus)
    assert isinstance(write.status, DestinationStatus)
    assert write.status.connect == "Disconnected"
    assert write.status.conditions[0].reason == "ProjectNotFound"
    assert write.status.conditions[0].message == "Project show does not exist"
    assert write.status.last_error == "Project show does not exist", "the ERROR column"
    assert isinstance(event, ResourceEvent)
    assert (event.resource.name, event.reason, event.warning) == ("main", "ProjectNotFound", True)
    settled = observed.destination.model_copy(update={"status": write.status})
    assert make_plan(ObservedDestination(settled, project_exists=False), NOW, SETTINGS) == []


def test_a_projects_destination_is_left_to_the_project() -> None:
    assert make_plan(ObservedDestination(destination(), project_exists=True), NOW, SETTINGS) == []
