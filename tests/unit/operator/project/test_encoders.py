"""Which encoders are followed, told to yield and handed their programme; what stays of those that went."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from tests.support.plans import broadcast_of, kinds, plan
from tests.support.worlds import NOW, delivering, destination, encoder, on_air, pod, project, run, world

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.contract.times import format_time
from onair_operator.cluster.actions import (
    Action,
    CreatePod,
    DeletePod,
    DeleteSecret,
    DropEncoder,
    FollowEncoder,
    PushProgram,
    Requeue,
)
from onair_operator.cluster.queue import Key
from onair_operator.cluster.world import PodRefusal
from onair_operator.encoder.observed import EncoderView, PodView
from onair_operator.project.encoders import YIELD_WAIT
from onair_operator.project.observed import ObservedProject

CERTIFICATES = {"uid-pod-1": "pem", "uid-pod-2": "pem"}


def followed(status: dict[str, Any] | None = None, **extra: Any) -> list[Action]:
    observed = world(project(status={"broadcast": status or on_air()}), certificates=CERTIFICATES, **extra)
    return [a for a in plan(observed) if isinstance(a, FollowEncoder | DropEncoder)]


def view(epoch: int = 1, **extra: Any) -> EncoderView:
    told = {key: extra.pop(key) for key in ("replaced", "yielded", "silent_s") if key in extra}
    return replace(encoder(epoch=epoch, **extra), ip="10.0.0.9", **told)


def test_the_claimed_encoder_is_followed_before_its_programme_is_pushed() -> None:
    assert followed(pods=[pod()]) == [FollowEncoder("show", pod(), "pem")]
    observed = world(project(status={"broadcast": on_air()}), certificates=CERTIFICATES, pods=[pod()])
    kinds_of = kinds(observed)
    assert kinds_of.index(FollowEncoder) < kinds_of.index(PushProgram)


def test_an_encoder_is_followed_again_only_at_another_address() -> None:
    assert followed(pods=[pod()], encoders=[view()]) == []
    moved = pod(ip="10.0.0.10")
    assert followed(pods=[moved], encoders=[view()]) == [FollowEncoder("show", moved, "pem")]


def test_an_encoder_without_identity_or_address_is_not_followed_yet() -> None:
    assert followed(pods=[pod(ip=None)]) == []
    observed = world(project(status={"broadcast": on_air()}), pods=[pod()])
    assert FollowEncoder not in kinds(observed)


def test_an_encoder_goes_on_until_there_is_the_pod_of_another_one() -> None:
    lost = pod(deleting=True)
    assert followed(pods=[lost], encoders=[view()]) == []
    second = run("Starting", epoch=2)
    assert followed(second, pods=[lost], encoders=[view()]) == []
    assert followed(second, pods=[lost, pod(2, node=None, ip=None)], encoders=[view()]) == [
        FollowEncoder("show", lost, "pem", replaced=True)
    ]


def test_an_encoder_that_is_replaced_is_followed_until_it_has_yielded() -> None:
    second = run("Starting", epoch=2, encoder="uid-pod-2")
    both = [pod(deleting=True), pod(2)]
    assert followed(second, pods=both, encoders=[view(replaced=True), view(2)]) == []
    for over in (view(replaced=True, yielded=True), view(phase="yielded"), view(phase="finished")):
        assert followed(second, pods=both, encoders=[over, view(2)]) == [DropEncoder("uid-pod-1")]
    failed = pod(phase="Failed")
    assert followed(second, pods=[failed, pod(2)], encoders=[view(), view(2)]) == [DropEncoder("uid-pod-1")]


def test_a_new_leader_tells_encoders_to_yield_that_were_replaced_before_it_led() -> None:
    second = run("Running", epoch=2, encoder="uid-pod-2", start=format_time(NOW))
    lost = pod(deleting=True)
    assert followed(second, pods=[lost, pod(2)], encoders=[view(2)]) == [
        FollowEncoder("show", lost, "pem", replaced=True)
    ]


def test_an_encoder_of_a_run_that_was_given_up_is_told_to_yield_to_the_next_run() -> None:
    lost, claimed = pod(deleting=True), pod(id="next", uid="uid-pod-2")
    status = run("Starting", id="next")
    assert FollowEncoder("show", lost, "pem", replaced=True) in followed(status, pods=[lost, claimed])


def handover(
    *others: EncoderView, claimed_s: float = 1.0, claimed: EncoderView | None = None
) -> ObservedProject:
    """A second encoder's pod is there, so long after its claim."""
    since = format_time(NOW - dt.timedelta(seconds=claimed_s))
    status = run("Starting", epoch=2, encoder="uid-pod-2", claimed=since)
    return world(
        project(status={"broadcast": status}),
        pods=[pod(deleting=True), pod(2)],
        destinations=[destination()],
        encoders=[*others, *([claimed] if claimed else [])],
        certificates=CERTIFICATES,
    )


def pushed(observed: ObservedProject) -> list[str]:
    """The destinations that the second encoder is to publish to."""
    (program,) = [a.program for a in plan(observed) if isinstance(a, PushProgram)]
    return [each.id for each in program.destinations]


def test_an_encoder_publishes_only_when_the_one_before_it_has_yielded() -> None:
    waiting = handover(view(replaced=True))
    assert pushed(waiting) == []
    assert Requeue(Key("Project", "show"), 2.0) in plan(waiting)
    assert pushed(handover(view(replaced=True, yielded=True))) == ["main"]


def test_who_cannot_be_reached_or_does_not_yield_is_not_waited_for() -> None:
    assert pushed(handover(view(replaced=True, connected=False))) == ["main"]
    assert pushed(handover()) == ["main"]
    assert pushed(handover(view(replaced=True), claimed_s=YIELD_WAIT.total_seconds())) == ["main"]


def test_what_is_on_air_is_not_taken_off_air_for_an_encoder_that_turns_up_again() -> None:
    publishing = view(2, destinations=[delivering("main")])
    assert pushed(handover(view(replaced=True), claimed=publishing)) == ["main"]


def test_an_encoder_that_has_yielded_its_place_by_mistake_is_replaced() -> None:
    observed = world(project(status={"broadcast": on_air()}), pods=[pod()], encoders=[view(phase="yielded")])
    assert broadcast_of(observed).epoch == 2


def deleted(observed: ObservedProject) -> list[Action]:
    return [a for a in plan(observed) if isinstance(a, DeletePod | DeleteSecret)]


def test_an_identity_goes_once_its_pod_is_gone_and_not_before() -> None:
    identities = {"show-run-1": "uid-1", "show-run-2": "uid-2"}
    second = project(status={"broadcast": run("Starting", epoch=2, encoder="uid-pod-2")})
    evicted = world(second, pods=[pod(2)], identities=identities)
    assert deleted(evicted) == [DeleteSecret("show-run-1", "uid-1")]
    leaving = world(second, pods=[pod(deleting=True), pod(2)], identities=identities)
    assert deleted(leaving) == []


def test_an_identity_may_be_there_before_its_pod() -> None:
    claimed = project(status={"broadcast": run("Waiting", claimed=format_time(NOW))})
    assert deleted(world(claimed, identities={"show-run-1": "uid-1"})) == []
    ended = project("Stopped", status={"broadcast": run("Stopped", stop=format_time(NOW))})
    assert deleted(world(ended, identities={"show-run-1": "uid-1"})) == [DeleteSecret("show-run-1", "uid-1")]


def test_a_pod_that_is_deleted_with_its_project_ends_its_streams_properly() -> None:
    metadata = {"deletionTimestamp": format_time(NOW), "finalizers": [BROADCAST_FINALIZER]}
    show = project(status={"broadcast": on_air()}, metadata=metadata)
    leaving = [pod(deleting=True)]
    observed = world(show, pods=leaving, encoders=[view()], certificates=CERTIFICATES)
    assert broadcast_of(observed).phase == "Stopping"
    (push,) = [a for a in plan(observed) if isinstance(a, PushProgram)]
    assert push.program.stop
    assert not [a for a in plan(observed) if isinstance(a, FollowEncoder | DeletePod)]
    ending = project(
        status={"broadcast": run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW))},
        metadata=metadata,
    )
    for its_encoder, phase in (
        (view(phase="stopping"), "Stopping"),
        (view(phase="finished"), "Stopped"),
        (view(phase="stopping", connected=False, silent_s=5.0), "Stopped"),
    ):
        assert broadcast_of(world(ending, pods=leaving, encoders=[its_encoder])).phase == phase


def test_pods_of_a_namespace_that_is_deleted_end_their_streams_properly() -> None:
    leaving, refused = [pod(deleting=True)], PodRefusal("show-run-2", "it is being terminated", final=True)
    claimed = run("Starting", epoch=2)
    first_look = world(
        project(status={"broadcast": claimed}), pods=leaving, encoders=[view()], refusal=refused
    )
    assert broadcast_of(first_look).phase == "Stopping"
    (push,) = [a for a in plan(first_look) if isinstance(a, PushProgram)]
    assert (push.pod_uid, push.program.stop, push.program.epoch) == ("uid-pod-1", True, 2)
    ending = project(status={"broadcast": run("Stopping", epoch=2, stopRequested=format_time(NOW))})
    for its_encoder, phase in ((view(phase="stopping"), "Stopping"), (view(phase="finished"), "Stopped")):
        observed = world(ending, pods=leaving, encoders=[its_encoder], refusal=refused)
        assert broadcast_of(observed).phase == phase


@pytest.mark.parametrize(
    ("refusal", "order"),
    [
        (None, [CreatePod]),
        (PodRefusal("show-run-1", "exceeded quota", quota=True), [CreatePod]),
        (PodRefusal("show-run-2", "exceeded quota", quota=True), [DeletePod, CreatePod]),
        (PodRefusal("show-run-2", "no privileged pods"), [CreatePod]),
    ],
)
def test_a_pod_that_works_is_deleted_before_the_next_is_there_only_if_it_fills_the_quota(
    refusal: PodRefusal | None, order: list[type]
) -> None:
    replaced = project(status={"broadcast": run("Starting", epoch=2)})
    actions = plan(world(replaced, pods=[pod()], refusal=refusal))
    assert [type(a) for a in actions if isinstance(a, CreatePod | DeletePod)] == order
    there = plan(world(replaced, pods=[pod(), pod(2)], refusal=refusal))
    assert [a for a in there if isinstance(a, CreatePod | DeletePod)] == [
        DeletePod("show-run-1", "uid-pod-1")
    ]


def test_pods_that_are_of_no_use_go_though_their_successor_is_refused() -> None:
    replaced = project(status={"broadcast": run("Starting", epoch=3)})
    refusal = PodRefusal("show-run-3", "no privileged pods")
    pods = [pod(1, phase="Failed"), pod(2), pod(9, id="former")]
    actions = plan(world(replaced, pods=pods, refusal=refusal))
    told = [
        a.name if isinstance(a, DeletePod) else "create" for a in actions if type(a) in (DeletePod, CreatePod)
    ]
    assert told == ["show-run-1", "show-former-9", "create"]
    there = plan(world(replaced, pods=[*pods, pod(3)], refusal=refusal))
    assert [a.name for a in there if isinstance(a, DeletePod)] == [
        "show-run-1",
        "show-run-2",
        "show-former-9",
    ]


def backing_off(*pods: PodView, claimed_s: float = 0.0, **extra: Any) -> ObservedProject:
    """The third encoder in a row is claimed, and may be created 2 s after that."""
    since = format_time(NOW - dt.timedelta(seconds=claimed_s))
    third = run("Starting", epoch=3, losses=3, claimed=since)
    return world(project(status={"broadcast": third}), pods=pods, certificates=CERTIFICATES, **extra)


ON_AIR_AGAIN: dict[str, Any] = {"encoders": [view(2)]}


def test_an_encoder_that_works_stays_on_air_until_its_successor_may_be_created() -> None:
    waiting = backing_off(pod(2), **ON_AIR_AGAIN)
    assert not {CreatePod, DeletePod} & set(kinds(waiting))
    assert [a for a in plan(waiting) if isinstance(a, FollowEncoder)] == []
    due = backing_off(pod(2), claimed_s=2.1, **ON_AIR_AGAIN)
    actions = [type(a) for a in plan(due) if isinstance(a, CreatePod | DeletePod)]
    assert actions == [CreatePod]
    assert deleted(backing_off(pod(2), pod(3), claimed_s=2.2, **ON_AIR_AGAIN)) == [
        DeletePod("show-run-2", "uid-pod-2")
    ]


def test_an_encoder_that_cannot_be_reached_may_work_and_stays() -> None:
    assert deleted(backing_off(pod(2))) == []
    assert deleted(backing_off(pod(2), encoders=[view(2, connected=False)])) == []


@pytest.mark.parametrize(
    ("its_pod", "its_encoder"),
    [
        (pod(2, phase="Failed"), None),
        (pod(2, node=None, ip=None), None),
        (pod(2, failure=("ContainerFailed", "it ends")), None),
        (pod(2), view(2, encode_error="no encoder")),
        (pod(2), view(2, phase="starting")),
        (pod(2), view(2, phase="yielded")),
        (pod(2, id="former"), view(2, id="former")),
    ],
    ids=["over", "never placed", "fails", "encodes nothing", "no frame yet", "has yielded", "another run's"],
)
def test_an_encoder_that_is_broken_or_must_yield_goes_at_once(
    its_pod: PodView, its_encoder: EncoderView | None
) -> None:
    observed = backing_off(its_pod, encoders=[its_encoder] if its_encoder else [])
    assert deleted(observed) == [DeletePod(its_pod.name, its_pod.uid)]


def test_a_new_leader_ends_a_show_whose_claimed_encoder_has_no_pod_yet() -> None:
    ending = project(
        "Stopped",
        status={"broadcast": run("Stopping", epoch=3, losses=3, stopRequested=format_time(NOW))},
        metadata={"finalizers": [BROADCAST_FINALIZER]},
    )

    def seen(*encoders: EncoderView) -> ObservedProject:
        return world(ending, pods=[pod(2)], encoders=encoders, certificates=CERTIFICATES)

    # Its first look, before it is in touch with anybody.
    assert broadcast_of(seen()).phase == "Stopping"
    actions = plan(seen())
    assert [a for a in actions if isinstance(a, FollowEncoder)] == [FollowEncoder("show", pod(2), "pem")]
    assert [a.program.stop for a in actions if isinstance(a, PushProgram)] == [True]
    assert not {DeletePod, CreatePod} & set(map(type, actions))
    unseen = EncoderView("uid-pod-2", connected=False, status=None, ip="10.0.0.9")
    assert broadcast_of(seen(unseen)).phase == "Stopping"
    assert broadcast_of(seen(view(2, phase="stopping"))).phase == "Stopping"
    for over in (view(2, phase="finished"), replace(unseen, silent_s=5.0)):
        assert broadcast_of(seen(over)).phase == "Stopped"


def test_a_broken_status_stream_ends_no_show_whose_claimed_encoder_has_no_pod_yet() -> None:
    stopping = run("Stopping", epoch=3, losses=3, stopRequested=format_time(NOW))
    for silent_s, phase in ((0.5, "Stopping"), (5.0, "Stopped")):
        broken = replace(view(2, connected=False), silent_s=silent_s)
        observed = world(project("Stopped", status={"broadcast": stopping}), pods=[pod(2)], encoders=[broken])
        assert broadcast_of(observed).phase == phase
