"""What `kubectl get projects` shows without `-o wide`."""

from __future__ import annotations

import pytest
from tests.support.plans import status_of
from tests.support.worlds import NOW, delivering, destination, encoder, on_air, pod, project, run, world

from onair_crds.contract.times import format_time
from onair_crds.resources.project import ProjectStatus


def running(connected: int, total: int) -> ProjectStatus:
    names = [f"d{number}" for number in range(total)]
    states = [
        delivering(name, "Connected" if number < connected else "Disconnected")
        for number, name in enumerate(names)
    ]
    return status_of(
        world(
            project(status={"broadcast": on_air()}),
            pods=[pod()],
            destinations=[destination(name) for name in names],
            encoders=[encoder(destinations=states)],
        )
    )


@pytest.mark.parametrize(
    ("connected", "total", "state"),
    [
        (0, 0, "OnAir"),
        (2, 2, "OnAir"),
        (3, 12, "OnAir, 9 of 12 destinations down"),
        (0, 1, "OnAir, 1 of 1 destination down"),
    ],
)
def test_destinations_that_are_down_are_in_the_state(connected: int, total: int, state: str) -> None:
    assert running(connected, total).state == state


def test_what_keeps_a_show_from_the_air_is_its_state() -> None:
    unreachable = world(
        project(status={"broadcast": on_air()}),
        pods=[pod()],
        encoders=[encoder(composition_error="graphics.example: name not found")],
    )
    assert status_of(unreachable).state == "CompositionUnreachable"
    black = world(project(status={"broadcast": on_air()}), pods=[pod()], encoders=[encoder(on_slate=True)])
    assert status_of(black).state == "Slate"
    assert status_of(world(project("Stopped"))).state == "NotRunning"


def test_only_a_run_that_has_not_ended_has_been_on_air_since() -> None:
    status = running(1, 1)
    assert status.broadcast
    assert status.on_air_since == status.broadcast.start
    ended = run("Stopped", start=format_time(NOW), stop=format_time(NOW))
    stopped = status_of(world(project("Stopped", status={"broadcast": ended})))
    assert stopped.on_air_since is None
    assert stopped.broadcast
    assert stopped.broadcast.start == format_time(NOW)
