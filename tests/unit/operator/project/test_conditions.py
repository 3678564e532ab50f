"""The Ready condition of projects names the first obstacle."""

from __future__ import annotations

import pytest
from tests.support.plans import ready_of, status_of
from tests.support.worlds import (
    NOW,
    encoder,
    on_air,
    pod,
    project,
    run,
    world,
)

from onair_crds.contract.times import format_time
from onair_operator.project.observed import ObservedProject


@pytest.mark.parametrize(
    ("observed", "ready"),
    [
        (world(project("Stopped")), ("True", "NotRunning")),
        (world(project(), collection=None), ("False", "CollectionNotFound")),
        (world(project(status={"broadcast": run("Waiting")})), ("False", "Waiting")),
        (
            world(
                project(status={"broadcast": run("Waiting")}),
                pods=[pod(node=None, ip=None, unschedulable="0/3 nodes are available")],
            ),
            ("False", "NoCapacity"),
        ),
        (
            world(
                project(status={"broadcast": run("Starting")}),
                pods=[pod(failure=("ImagePullFailed", "onair/encoder: not found"))],
            ),
            ("False", "ImagePullFailed"),
        ),
        (
            world(
                project(status={"broadcast": run("Starting", encoder="uid-pod-1")}),
                pods=[pod()],
                encoders=[encoder("starting", composition_error="graphics.example: name not found")],
            ),
            ("False", "CompositionUnreachable"),
        ),
        (
            world(project(status={"broadcast": on_air()}), pods=[pod()], encoders=[encoder()]),
            ("True", "OnAir"),
        ),
        (
            world(
                project(status={"broadcast": run("Stopped", error="DurationExceeded", stop=format_time(NOW))})
            ),
            ("False", "DurationExceeded"),
        ),
        (world(project(status={"broadcast": run("Stopped", stop=format_time(NOW))})), ("True", "Stopped")),
    ],
)
def test_ready_names_the_first_obstacle(observed: ObservedProject, ready: tuple[str, str]) -> None:
    assert ready_of(observed) == ready


def test_no_capacity_says_where_and_how_much() -> None:
    waiting = world(
        project(
            status={"broadcast": run("Waiting")},
            location={"latitude": 48.0, "longitude": 11.0},
            rendering={"video": {"width": 1920, "height": 1080}},
        ),
        pods=[pod(node=None, ip=None, unschedulable="0/3 nodes are available: 3 Insufficient cpu.")],
    )
    message = status_of(waiting).conditions[0].message
    assert message.startswith("no node of regions eu-central-1, us-east-1 has 1.4 CPU")
    assert "(needed by 1920×1080@30); queued" in message
    assert "Insufficient cpu" in message
