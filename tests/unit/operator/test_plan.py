"""Tables of worlds and plans."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from tests.support.worlds import (
    NOW,
    collection,
    delivering,
    destination,
    encoder,
    held,
    on_air,
    plan,
    pod,
    project,
    run,
    secret,
    settled,
    world,
)

from onair_crds.contract.times import format_time
from onair_crds.resources.project import BroadcastStatus, ProjectStatus
from onair_operator.actions import (
    Adopt,
    AdoptSecret,
    CreatePod,
    DeletePod,
    DeleteSecret,
    Event,
    PushProgram,
    Requeue,
    SetFinalizer,
    WriteDestinationStatus,
    WriteStatus,
)
from onair_operator.observed import Observed


def status_of(observed: Observed) -> ProjectStatus:
    """The status that the plan writes, or the present one."""
    written = [a.status for a in plan(observed) if isinstance(a, WriteStatus)]
    return written[0] if written else observed.project.status


def broadcast_of(observed: Observed) -> BroadcastStatus:
    broadcast = status_of(observed).broadcast
    assert broadcast is not None
    return broadcast


def ready_of(observed: Observed) -> tuple[str, str]:
    condition = status_of(observed).conditions[0]
    return condition.status, condition.reason


def kinds(observed: Observed) -> list[type]:
    return [type(a) for a in plan(observed)]


def test_a_wanted_show_is_held_then_claimed_then_created() -> None:
    observed = world(project(id="run-1"))
    actions = [a for a in plan(observed) if not isinstance(a, Event)]
    assert [type(a) for a in actions[:3]] == [SetFinalizer, WriteStatus, CreatePod]
    broadcast = broadcast_of(observed)
    assert (broadcast.id, broadcast.epoch, broadcast.phase) == ("run-1", 1, "Waiting")
    assert broadcast.pod == "show-run-1-1"
    assert actions[2] == CreatePod("run-1", 1)


def test_a_run_without_an_id_gets_one_and_always_the_same() -> None:
    assert broadcast_of(world(project())).id == broadcast_of(world(project())).id


@pytest.mark.parametrize(
    ("spec", "last", "starts"),
    [
        ({"id": "b"}, run("Stopped", "a"), True),
        ({"id": "a"}, run("Stopped", "a"), False),
        ({"id": "a"}, run("Stopped", "a", stopObserved=True), False),
        ({}, run("Stopped", "a"), False),
        ({}, run("Stopped", "a", stopObserved=True), True),
        ({}, run("Archived", "a", stopObserved=True), True),
        ({"id": "b"}, run("Archived", "a"), True),
    ],
    ids=[
        "a new id is a new run",
        "the same id never runs twice",
        "not even after Stopped",
        "GitOps applying Running again does not restart what ended by itself",
        "Stopped in between makes Running a new run",
        "an archived run does not stand in the way",
        "a new id after an archived run",
    ],
)
def test_runs_are_told_apart(spec: dict[str, Any], last: dict[str, Any], starts: bool) -> None:
    observed = world(project(**spec, status={"broadcast": last}))
    assert (CreatePod in kinds(observed)) is starts


def test_the_run_before_the_last_does_not_run_again_either() -> None:
    status = {"broadcast": run("Stopped", "b"), "previous": run("Archived", "a")}
    assert CreatePod not in kinds(world(project(id="a", status=status)))


def test_a_new_run_archives_the_last_one() -> None:
    status = status_of(world(project(id="b", status={"broadcast": run("Stopped", "a")})))
    assert status.previous is not None
    assert (status.previous.id, status.previous.phase) == ("a", "Archived")


def test_stopped_is_observed_once() -> None:
    observed = world(project("Stopped", status={"broadcast": run("Stopped", "a", stop=format_time(NOW))}))
    assert broadcast_of(observed).stop_observed is True


def test_a_stopped_run_is_archived_after_its_retention() -> None:
    stopped = run("Stopped", "a", stop=format_time(NOW - dt.timedelta(days=2)), stopObserved=True)
    assert broadcast_of(world(project("Stopped", status={"broadcast": stopped}))).phase == "Archived"


PHASES = [
    # broadcast before, pod, encoder, phase after
    (run("Waiting"), pod(node=None, ip=None), None, "Waiting"),
    (run("Waiting"), pod(ip=None), None, "Starting"),
    (run("Waiting"), pod(), encoder("starting"), "Starting"),
    (run("Starting", encoder="uid-pod-1"), pod(), encoder("starting"), "Starting"),
    (run("Starting", encoder="uid-pod-1"), pod(), encoder("running"), "Running"),
    (run("Starting", encoder="uid-pod-1"), pod(), encoder("running", id="another"), "Starting"),
    (run("Starting", "run", 2, encoder="uid-pod-2"), pod(2), encoder("running", epoch=1), "Starting"),
    (on_air(), pod(), encoder("running"), "Running"),
    (on_air(), pod(), None, "Running"),
    (on_air(), pod(), encoder("running", connected=False), "Running"),
]


@pytest.mark.parametrize(("before", "its_pod", "heard", "after"), PHASES)
def test_phases_follow_pod_and_encoder(before: Any, its_pod: Any, heard: Any, after: str) -> None:
    observed = world(
        project(status={"broadcast": before}, metadata=held()),
        pods=[its_pod],
        encoders=[heard] if heard else [],
    )
    assert broadcast_of(observed).phase == after


def test_running_tells_when_and_where() -> None:
    observed = world(
        project(status={"broadcast": run("Waiting", encoder="uid-pod-1")}, metadata=held()),
        pods=[pod()],
        encoders=[encoder()],
    )
    broadcast = broadcast_of(observed)
    assert (broadcast.region, broadcast.datacenter) == ("eu-central-1", "eu-central-1a")
    assert broadcast.start == format_time(NOW - dt.timedelta(seconds=30))
    assert broadcast.encoder == "uid-pod-1"


@pytest.mark.parametrize(
    "gone",
    [[], [pod(deleting=True)], [pod(phase="Failed")], [pod(phase="Succeeded")]],
    ids=["vanished", "being deleted", "failed", "succeeded"],
)
def test_a_lost_encoder_is_replaced_under_the_same_id_and_the_next_epoch(gone: list[Any]) -> None:
    observed = world(project(status={"broadcast": on_air()}, metadata=held()), pods=gone)
    broadcast = broadcast_of(observed)
    assert (broadcast.id, broadcast.epoch, broadcast.phase) == ("run", 2, "Starting")
    assert broadcast.start == on_air()["start"]
    assert CreatePod("run", 2) in plan(observed)
    assert any(isinstance(a, Event) and a.reason == "EncoderLost" for a in plan(observed))


def test_an_encoder_on_a_dead_node_is_replaced_but_a_silent_one_is_not() -> None:
    silent = encoder(connected=False)
    show = project(status={"broadcast": on_air()}, metadata=held())
    assert broadcast_of(world(show, pods=[pod()], encoders=[silent])).epoch == 1
    dead = world(show, pods=[pod()], encoders=[silent], dead_nodes=frozenset({"node-eu"}))
    assert broadcast_of(dead).epoch == 2
    assert CreatePod("run", 2, frozenset({"node-eu"})) in plan(dead)
    speaking = world(show, pods=[pod()], encoders=[encoder()], dead_nodes=frozenset({"node-eu"}))
    assert broadcast_of(speaking).epoch == 1


def test_a_pod_of_an_older_epoch_is_deleted() -> None:
    status = {"broadcast": run("Starting", epoch=2, encoder="uid-pod-2")}
    observed = world(project(status=status, metadata=held()), pods=[pod(1), pod(2)])
    assert [a for a in plan(observed) if isinstance(a, DeletePod)] == [DeletePod("show-run-1", "uid-pod-1")]


def test_a_pod_made_before_a_crash_is_taken_up_and_not_made_twice() -> None:
    observed = world(project(status={"broadcast": run("Waiting")}, metadata=held()), pods=[pod()])
    assert CreatePod not in kinds(observed)
    assert broadcast_of(observed).encoder == "uid-pod-1"


def test_encoders_lost_again_and_again_wait_and_then_end_the_run() -> None:
    def losing(losses: int) -> Observed:
        claimed = format_time(NOW - dt.timedelta(seconds=1))
        status = {"broadcast": run("Starting", encoder="uid-pod-1", losses=losses, claimed=claimed)}
        return world(project(status=status, metadata=held()))

    assert CreatePod in kinds(losing(0))
    assert CreatePod not in kinds(losing(3))
    assert broadcast_of(losing(5)).phase == "Stopping"
    assert broadcast_of(losing(5)).error == "Internal"


ENDINGS = [
    ("stop", project("Stopped", status={"broadcast": on_air()}, metadata=held()), {}, None),
    (
        "deletion",
        project(status={"broadcast": on_air()}, metadata=held(deletionTimestamp="2026-05-01T12:00:00Z")),
        {},
        None,
    ),
    ("another id", project(id="new", status={"broadcast": on_air()}, metadata=held()), {}, None),
    ("collection gone", project(status={"broadcast": on_air()}, metadata=held()), {"collection": None}, None),
    (
        "maxDuration",
        project(status={"broadcast": on_air()}, metadata=held(), maxDuration=29_000),
        {},
        "DurationExceeded",
    ),
    (
        "the encoder's own end",
        project(status={"broadcast": on_air()}, metadata=held()),
        {"encoders": [encoder("finished", error="DurationExceeded")]},
        "DurationExceeded",
    ),
]


@pytest.mark.parametrize(("show", "extra", "error"), [e[1:] for e in ENDINGS], ids=[e[0] for e in ENDINGS])
def test_what_ends_a_run(show: Any, extra: dict[str, Any], error: str | None) -> None:
    observed = world(show, pods=[pod()], **extra)
    broadcast = broadcast_of(observed)
    assert (broadcast.phase, broadcast.error) == ("Stopping", error)
    (push,) = [a for a in plan(observed) if isinstance(a, PushProgram)]
    assert push.program.stop is True
    assert not any(isinstance(a, DeletePod) for a in plan(observed))


STOPPING = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW - dt.timedelta(seconds=2)))
OVERDUE = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW - dt.timedelta(seconds=11)))


@pytest.mark.parametrize(
    ("broadcast", "pods", "heard", "after"),
    [
        (STOPPING, [pod()], encoder("stopping"), "Stopping"),
        (STOPPING, [pod()], None, "Stopping"),
        (STOPPING, [pod()], encoder("finished"), "Stopped"),
        (STOPPING, [], None, "Stopped"),
        (STOPPING, [pod(node=None, ip=None)], None, "Stopped"),
        (OVERDUE, [pod()], encoder("stopping"), "Stopped"),
    ],
    ids=["still ending", "not heard", "ended", "no pod", "never placed", "takes too long"],
)
def test_stopping_ends(broadcast: Any, pods: Any, heard: Any, after: str) -> None:
    show = project("Stopped", status={"broadcast": broadcast}, metadata=held())
    observed = world(show, pods=pods, encoders=[heard] if heard else [])
    assert broadcast_of(observed).phase == after
    ended = after == "Stopped"
    assert (SetFinalizer(False) in plan(observed)) is ended
    assert any(isinstance(a, DeletePod) for a in plan(observed)) is (ended and bool(pods))


def test_a_deleted_project_is_let_go_only_after_its_show_has_ended() -> None:
    metadata = held(deletionTimestamp="2026-05-01T12:00:00Z")
    live = world(project(status={"broadcast": on_air()}, metadata=metadata), pods=[pod()])
    assert SetFinalizer(False) not in plan(live)
    over = world(project(status={"broadcast": run("Stopped", stop=format_time(NOW))}, metadata=metadata))
    assert SetFinalizer(False) in plan(over)


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
def test_ready_names_the_first_obstacle(observed: Observed, ready: tuple[str, str]) -> None:
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


def test_destinations_say_what_the_encoder_says() -> None:
    observed = world(
        project(status={"broadcast": on_air()}, metadata=held()),
        pods=[pod()],
        destinations=[destination("a"), destination("b"), destination("c", enabled=False)],
        encoders=[
            encoder(
                destinations=[
                    delivering("a"),
                    delivering("b", "Disconnected", "connection refused by 192.0.2.1:1935"),
                ]
            )
        ],
    )
    written = {a.name: a.status for a in plan(observed) if isinstance(a, WriteDestinationStatus)}
    assert written["a"].connect == "Connected"
    assert written["a"].since == format_time(NOW - dt.timedelta(seconds=20))
    assert written["b"].last_error == "connection refused by 192.0.2.1:1935"
    assert written["c"].conditions[0].reason == "Disabled"
    counts = status_of(observed).destinations
    assert counts is not None
    assert counts.summary == "1/2"


def test_a_restarted_operator_keeps_what_it_cannot_know_yet() -> None:
    before = world(
        project(status={"broadcast": on_air()}, metadata=held()),
        pods=[pod()],
        destinations=[destination("a")],
        encoders=[encoder(destinations=[delivering("a")])],
    )
    after = Observed(**{**vars(settled(before)), "encoders": {}})
    assert [type(a) for a in plan(after) if not isinstance(a, Requeue)] == [PushProgram]


@pytest.mark.parametrize(
    ("secrets", "reason", "key"),
    [
        ([secret("k", streamKey="s3cret")], "Connected", "s3cret"),
        ([], "SecretNotFound", None),
        ([secret("k", type="Opaque", streamKey="s3cret")], "SecretNotAllowed", None),
        ([secret("k", other="s3cret")], "SecretKeyNotFound", None),
    ],
)
def test_only_credentials_may_be_referenced(secrets: Any, reason: str, key: str | None) -> None:
    keyed = destination(
        "a",
        address={
            "rtmpPush": {
                "url": "rtmp://media.example/live",
                "keySecretRef": {"name": "k", "key": "streamKey"},
            }
        },
    )
    observed = world(
        project(status={"broadcast": on_air()}, metadata=held()),
        pods=[pod()],
        destinations=[keyed],
        secrets=secrets,
        encoders=[encoder(destinations=[delivering("a")])],
    )
    (written,) = [a.status for a in plan(observed) if isinstance(a, WriteDestinationStatus)]
    assert written.conditions[0].reason == reason
    (push,) = [a for a in plan(observed) if isinstance(a, PushProgram)]
    assert [d.key.get_secret_value() for d in push.program.destinations if d.key] == ([key] if key else [])
    assert "s3cret" not in repr(plan(observed))


@pytest.mark.parametrize("member", ["rtmpPush", "srtPush"])
def test_a_passphrase_goes_with_an_srt_url_and_its_secret_is_kept(member: str) -> None:
    reference = {"name": "k", "key": "phrase"}
    locked = destination("a", address={member: {"url": "srt://a:1", "passphraseSecretRef": reference}})
    observed = world(
        project(status={"broadcast": on_air()}, metadata=held()),
        pods=[pod()],
        destinations=[locked],
        secrets=[secret("k", phrase="s3cret phrase")],
        encoders=[encoder(destinations=[delivering("a")])],
    )
    (push,) = [a for a in plan(observed) if isinstance(a, PushProgram)]
    (wanted,) = push.program.destinations
    assert (wanted.type, wanted.url) == ("SRT", "srt://a:1")
    assert wanted.passphrase
    assert wanted.passphrase.get_secret_value() == "s3cret phrase"
    assert "s3cret" not in repr(plan(observed))
    assert not [a for a in plan(observed) if isinstance(a, DeleteSecret)]


def test_children_get_their_owner() -> None:
    orphan = destination("a").model_copy(
        update={"metadata": {**destination("a").metadata, "ownerReferences": []}}
    )
    show = project("Stopped", metadata={"ownerReferences": []})
    adopted = [
        (a.child.name, a.owner.name) for a in plan(world(show, destinations=[orphan])) if isinstance(a, Adopt)
    ]
    assert adopted == [("show", "sunday"), ("a", "show")]


def test_a_deleting_collection_adopts_nothing() -> None:
    gone = collection(deletionTimestamp="2026-05-01T12:00:00Z")
    show = project("Stopped", metadata={"ownerReferences": []})
    assert Adopt not in kinds(world(show, collection=gone))


def test_secrets_follow_their_destination_and_unused_ones_go() -> None:
    keyed = destination(
        "a",
        address={"rtmpPush": {"url": "rtmp://m.example/live", "keySecretRef": {"name": "new", "key": "k"}}},
    )
    made = [
        secret("new", k="1").__class__(**{**vars(secret("new", k="1")), "destination": "a"}),
        secret("old", k="0").__class__(**{**vars(secret("old", k="0")), "destination": "a"}),
        secret("young").__class__(**{**vars(secret("young")), "destination": "a", "created": NOW}),
    ]
    actions = plan(world(project("Stopped"), destinations=[keyed], secrets=made))
    assert [a.name for a in actions if isinstance(a, AdoptSecret)] == ["new"]
    assert [a.name for a in actions if isinstance(a, DeleteSecret)] == ["old"]


WORLDS = [
    world(project("Stopped")),
    world(project("Stopped"), destinations=[destination("a")]),
    world(project(), collection=None),
    world(
        project(status={"broadcast": on_air()}, metadata=held()),
        pods=[pod()],
        destinations=[destination("a"), destination("b", enabled=False)],
        encoders=[encoder(destinations=[delivering("a")])],
    ),
    world(project(status={"broadcast": run("Starting", encoder="uid-pod-1")}, metadata=held()), pods=[pod()]),
    world(
        project("Stopped", status={"broadcast": STOPPING}, metadata=held()),
        pods=[pod()],
        encoders=[encoder("stopping")],
    ),
]


@pytest.mark.parametrize("observed", WORLDS)
def test_a_settled_world_gives_an_empty_plan(observed: Observed) -> None:
    calm = settled(settled(observed))
    assert [a for a in plan(calm) if not isinstance(a, Requeue)] == []
