"""Plans of projects: tables of worlds and actions."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from tests.support.plans import destination_statuses, kinds, plan, released, settled, status_of
from tests.support.worlds import (
    NOW,
    collection,
    delivering,
    destination,
    encoder,
    held,
    on_air,
    pod,
    project,
    run,
    secret,
    world,
)

from onair_crds.contract.owners import TRACKING_ANNOTATION, owner_reference
from onair_crds.contract.times import format_time
from onair_crds.resources.destination import Destination
from onair_crds.shapes import Document
from onair_operator.cluster.actions import (
    Adopt,
    AdoptSecret,
    DeletePod,
    DeleteSecret,
    Disown,
    PushProgram,
    Requeue,
    ResourceEvent,
    SetFinalizer,
    WriteStatus,
)
from onair_operator.cluster.queue import Key
from onair_operator.project.observed import ObservedProject
from onair_operator.project.plan import CHILDREN_IN_A_PLAN


def test_a_deleted_project_is_let_go_only_after_its_show_has_ended() -> None:
    metadata = held(deletionTimestamp="2026-05-01T12:00:00Z")
    live = world(project(status={"broadcast": on_air()}, metadata=metadata), pods=[pod()])
    assert not released(live)
    over = world(project(status={"broadcast": run("Stopped", stop=format_time(NOW))}, metadata=metadata))
    assert released(over)


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
    written = destination_statuses(observed)
    assert written["a"].connect == "Connected"
    assert written["a"].since == format_time(NOW - dt.timedelta(seconds=20))
    assert written["b"].last_error == "connection refused by 192.0.2.1:1935"
    assert written["c"].conditions[0].reason == "Disabled"
    counts = status_of(observed).destinations
    assert counts is not None
    assert counts.summary == "1/2"


def test_a_destination_of_a_run_that_begins_has_lost_no_encoder() -> None:
    begins = world(project(id="run-1"), destinations=[destination()])
    assert destination_statuses(begins)["main"].last_error is None
    lost = world(project(status={"broadcast": on_air()}, metadata=held()), destinations=[destination()])
    assert destination_statuses(lost)["main"].last_error == "the encoder is lost and being replaced"


def test_a_restarted_operator_keeps_what_it_cannot_know_yet() -> None:
    before = world(
        project(status={"broadcast": on_air()}, metadata=held()),
        pods=[pod()],
        destinations=[destination("a")],
        encoders=[encoder(destinations=[delivering("a")])],
    )
    after = ObservedProject(**{**vars(settled(before)), "encoders": {}})
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
    (written,) = destination_statuses(observed).values()
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


def test_what_argo_cd_manages_has_no_owner() -> None:
    """It leaves alone what has one, so what is removed from Git would stay on air."""
    tracked = {"annotations": {TRACKING_ANNOTATION: "shows:onair.dev/Destination:shows/a"}}
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "theirs"}
    ours = owner_reference("Project", "show", "uid-of-the-former")

    def managed(name: str, *owners: Document) -> Destination:
        made = destination(name)
        metadata = {**made.metadata, **tracked, "ownerReferences": list(owners)}
        return made.model_copy(update={"metadata": metadata})

    adopted = managed("adopted", theirs, ours)
    show = project("Stopped", metadata={**tracked, "ownerReferences": []})
    planned = plan(world(show, destinations=[managed("free"), managed("another's", theirs), adopted]))
    assert [each for each in planned if isinstance(each, Adopt | Disown)] == [Disown(adopted)]


@pytest.mark.parametrize("adopted", [True, False])
def test_a_show_of_many_destinations_is_written_in_several_plans(adopted: bool) -> None:
    """A worker that carries one out leaves others waiting meanwhile."""
    names = [f"destination-{number}" for number in range(2 * CHILDREN_IN_A_PLAN + 1)]
    found = [destination(name) for name in names]
    for each in found if not adopted else ():
        each.metadata["ownerReferences"] = []
    observed = world(project("Stopped"), destinations=found)
    written: list[str] = []
    for most in (CHILDREN_IN_A_PLAN, CHILDREN_IN_A_PLAN, 1, 0):
        assert len(destination_statuses(observed)) == most
        written += destination_statuses(observed)
        orphans = [each for each in plan(observed) if isinstance(each, Adopt)]
        assert len(orphans) == (0 if adopted else CHILDREN_IN_A_PLAN)
        again = Requeue(Key("Project", "show"), 0.0) in plan(observed)
        assert again is not adopted
        observed = settled(observed)
    assert written == names


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


def test_a_finalizer_goes_before_all_that_may_be_forbidden_in_a_namespace_that_is_deleted() -> None:
    metadata = held(deletionTimestamp=format_time(NOW))
    finished = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW))
    observed = world(
        project(status={"broadcast": finished}, metadata=metadata),
        pods=[pod()],
        destinations=[destination("a")],
        encoders=[encoder("finished")],
        identities={"show-run-0": "uid"},
    )
    order = [type(a) for a in plan(observed) if not isinstance(a, ResourceEvent)]
    assert order[:2] == [WriteStatus, SetFinalizer]
    assert {DeletePod, DeleteSecret, WriteStatus} <= set(order[2:])
    assert released(observed)


STOPPING = run("Stopping", encoder="uid-pod-1", stopRequested=format_time(NOW - dt.timedelta(seconds=2)))
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
def test_a_settled_world_gives_an_empty_plan(observed: ObservedProject) -> None:
    calm = settled(settled(observed))
    assert [a for a in plan(calm) if not isinstance(a, Requeue)] == []
