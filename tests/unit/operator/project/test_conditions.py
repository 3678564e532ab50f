"""The Ready condition of projects names the first obstacle."""

from __future__ import annotations

import pytest
from tests.support.plans import plan, ready_of, settled, status_of
from tests.support.worlds import (
    NOW,
    encoder,
    held,
    on_air,
    pod,
    project,
    run,
    world,
)

from onair_crds.contract.times import format_time
from onair_operator.cluster.actions import ResourceEvent
from onair_operator.cluster.world import PodRefusal
from onair_operator.encoder.observed import EncoderView
from onair_operator.project.observed import ObservedProject

QUOTA = PodRefusal("show-run-1", 'pods "show-run-1" is forbidden: exceeded quota')


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
        (world(project(status={"broadcast": run("Waiting")}), refusal=QUOTA), ("False", "PodRefused")),
        (world(project(status={"broadcast": run("Starting")}), refusal=QUOTA), ("False", "PodRefused")),
        (
            world(project(status={"broadcast": run("Waiting", epoch=2)}), refusal=QUOTA),
            ("False", "Waiting"),
        ),
        (world(project(status={"broadcast": on_air()}), pods=[pod()], refusal=QUOTA), ("True", "OnAir")),
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
            world(
                project(status={"broadcast": on_air()}),
                pods=[pod()],
                encoders=[encoder(refused="HTTP 400: not a program")],
            ),
            ("False", "ProgramRefused"),
        ),
        (
            world(project(status={"broadcast": on_air()}), pods=[pod()], encoders=[encoder()]),
            ("True", "OnAir"),
        ),
        (
            world(project(status={"broadcast": on_air()}), pods=[pod()], encoders=[encoder(on_slate=True)]),
            ("False", "Slate"),
        ),
        (
            world(
                project(status={"broadcast": on_air()}),
                pods=[pod(failure=("ContainerFailed", "container browser ends again and again"))],
                encoders=[encoder(on_slate=True, composition_error="the browser is being restarted")],
            ),
            ("False", "ContainerFailed"),
        ),
        (
            world(
                project(status={"broadcast": run("Stopped", error="DurationExceeded", stop=format_time(NOW))})
            ),
            ("False", "DurationExceeded"),
        ),
        (
            world(project("Stopped", status={"broadcast": run("Stopped", stop=format_time(NOW))})),
            ("True", "Stopped"),
        ),
        (
            world(project(id="run", status={"broadcast": run("Stopped", stop=format_time(NOW))})),
            ("False", "BroadcastIdUsed"),
        ),
        (
            world(
                project(
                    id="first",
                    status={
                        "broadcast": run("Stopped", "second", stop=format_time(NOW)),
                        "previous": run("Archived", "first"),
                    },
                )
            ),
            ("False", "BroadcastIdUsed"),
        ),
        (
            world(
                project(status={"broadcast": run("Starting", epoch=2, losses=1)}),
                pods=[pod(epoch=2, node=None, ip=None, unschedulable="0/3 nodes are available")],
            ),
            ("False", "NoCapacity"),
        ),
    ],
)
def test_ready_names_the_first_obstacle(observed: ObservedProject, ready: tuple[str, str]) -> None:
    assert ready_of(observed) == ready


def test_a_used_id_is_named_once_as_an_event() -> None:
    observed = world(project(id="run", status={"broadcast": run("Stopped", stop=format_time(NOW))}))
    (event,) = [action for action in plan(observed) if isinstance(action, ResourceEvent)]
    assert event.reason == "BroadcastIdUsed"
    assert event.message.startswith("broadcast.id run belongs to a run that has ended")
    assert not [action for action in plan(settled(observed)) if isinstance(action, ResourceEvent)]


def test_a_refused_pod_says_what_the_cluster_says() -> None:
    waiting = world(project(status={"broadcast": run("Waiting")}), refusal=QUOTA)
    message = status_of(waiting).conditions[0].message
    assert message.endswith("retrying. It says: " + QUOTA.message)


def test_a_cluster_that_does_not_respond_is_not_said_to_refuse() -> None:
    refusal = PodRefusal("show-run-1", "no response in time", transient=True, unanswered=True, times=3)
    waiting = world(project(status={"broadcast": run("Waiting")}), refusal=refusal)
    condition = status_of(waiting).conditions[0]
    assert condition.reason == "PodRefused"
    assert condition.message == (
        "the cluster does not respond to the request to create the encoder's pod; retrying. "
        "An admission webhook of it may hang"
    )


@pytest.mark.parametrize(("times", "reason"), [(1, "Waiting"), (2, "Waiting"), (3, "PodRefused")])
def test_a_refusal_that_may_pass_by_itself_is_told_once_it_has_not(times: int, reason: str) -> None:
    refusal = PodRefusal("show-run-1", "failed calling webhook", transient=True, times=times)
    assert ready_of(world(project(status={"broadcast": run("Waiting")}), refusal=refusal)) == (
        "False",
        reason,
    )


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        (world(project("Stopped")), ("False", "NotRunning", "not on air")),
        (
            world(
                project(status={"broadcast": run("Starting")}),
                pods=[pod(failure=("ImagePullFailed", "onair/encoder: not found"))],
            ),
            ("False", "ImagePullFailed", "onair/encoder: not found"),
        ),
        (
            world(project(status={"broadcast": on_air()}), pods=[pod()], encoders=[encoder()]),
            ("True", "OnAir", "on air"),
        ),
        (
            world(
                project(status={"broadcast": on_air()}),
                pods=[pod()],
                encoders=[encoder(on_slate=True, composition_error="a.example: connection refused")],
            ),
            ("False", "Slate", "the slate is on air: a.example: connection refused"),
        ),
        (
            world(project(status={"broadcast": on_air()}), pods=[pod()], encoders=[encoder(on_slate=True)]),
            ("False", "Slate", "the slate is on air: no video comes from the page"),
        ),
    ],
)
def test_on_air_says_whether_the_page_is(observed: ObservedProject, expected: tuple[str, str, str]) -> None:
    ready, on_air_condition = status_of(observed).conditions
    assert ready.type == "Ready"
    assert on_air_condition.type == "OnAir"
    found = (on_air_condition.status, on_air_condition.reason, on_air_condition.message)
    assert found == expected


@pytest.mark.parametrize(
    "known",
    [
        encoder(on_slate=True),
        encoder(on_slate=True, composition_error="a.example: connection refused"),
        encoder(refused="HTTP 400: not a program"),
        encoder(),
    ],
)
@pytest.mark.parametrize("unseen", [[], [EncoderView("uid-pod-1", connected=False, status=None)]])
def test_conditions_stay_until_a_new_leader_knows_better(
    known: EncoderView, unseen: list[EncoderView]
) -> None:
    show = project(status={"broadcast": on_air()}, metadata=held())
    before = settled(world(show, pods=[pod()], encoders=[known]))
    first_look = world(before.project, pods=[pod()], encoders=unseen)
    assert status_of(first_look).conditions == before.project.status.conditions
    assert not [action for action in plan(first_look) if isinstance(action, ResourceEvent)]
