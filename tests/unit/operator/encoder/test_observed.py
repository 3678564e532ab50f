"""What is known of an encoder pod from its own status."""

from __future__ import annotations

import datetime as dt

import pytest

from onair_crds.contract.labels import EPOCH_LABEL
from onair_crds.contract.times import parse_time
from onair_crds.resources.base import MAX_TEXT
from onair_crds.shapes import Document
from onair_operator.encoder.observed import PodView

CREATED, LATER = "2026-05-01T12:00:00Z", "2026-05-01T12:20:00Z"
UNREADY = {"type": "ContainersReady", "status": "False", "lastTransitionTime": "2026-05-01T12:30:00Z"}


def pod(waiting: Document, *conditions: Document) -> PodView:
    container = {"name": "browser", "image": "onair/encoder:x", "state": waiting}
    return PodView.of(
        {
            "metadata": {"name": "show-run-1", "uid": "u", "creationTimestamp": CREATED},
            "status": {"containerStatuses": [container], "conditions": list(conditions)},
        }
    )


@pytest.mark.parametrize(
    ("reason", "found"),
    [
        ("ImagePullBackOff", ("ImagePullFailed", "onair/encoder:x: why")),
        ("CreateContainerError", ("ContainerFailed", "container browser: why")),
        ("CrashLoopBackOff", ("ContainerFailed", "container browser keeps ending; see its log")),
    ],
)
def test_a_container_that_cannot_start_is_a_failure_since_it_was_last_ready(
    reason: str, found: tuple[str, str]
) -> None:
    failing = {"waiting": {"reason": reason, "message": "why"}}
    assert pod(failing, UNREADY).failure == found
    assert pod(failing, UNREADY).failing_since == dt.datetime(2026, 5, 1, 12, 30, tzinfo=dt.UTC)
    assert pod(failing).failing_since == dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("message", "since"),
    [
        ("back-off 10s restarting failed container=browser", "2026-05-01T12:40:00Z"),
        ("back-off 40s restarting failed container=browser", "2026-05-01T12:39:30Z"),
        ("back-off 2m40s restarting failed container=browser", "2026-05-01T12:37:30Z"),
        ("another word", "2026-05-01T12:40:02Z"),
    ],
)
def test_moments_of_a_container_that_crashes_again_and_again_make_it_no_younger(
    message: str, since: str
) -> None:
    ready_until = {**UNREADY, "lastTransitionTime": "2026-05-01T12:40:02Z"}
    container = {
        "name": "browser",
        "image": "onair/encoder:x",
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": message}},
        "lastState": {"terminated": {"finishedAt": "2026-05-01T12:40:00Z"}},
    }
    document = {
        "metadata": {"name": "show-run-1", "uid": "u", "creationTimestamp": CREATED},
        "status": {"containerStatuses": [container], "conditions": [ready_until]},
    }
    assert PodView.of(document).failing_since == dt.datetime.fromisoformat(since)


def test_a_container_that_must_end_before_the_others_start_is_a_failure_while_they_wait() -> None:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "why"}}
    waiting = {"name": "browser", "image": "x", "state": {"waiting": {"reason": "PodInitializing"}}}
    first = {"name": "network", "image": "x", "state": state}
    document = {
        "metadata": {"name": "show-run-1", "uid": "u", "creationTimestamp": CREATED},
        "status": {"containerStatuses": [waiting], "initContainerStatuses": [first]},
    }
    reason = "container network keeps ending; see its log"
    assert PodView.of(document).failure == ("ContainerFailed", reason)


@pytest.mark.parametrize("state", [{"running": {}}, {"waiting": {"reason": "ContainerCreating"}}])
def test_a_container_that_starts_or_runs_is_none(state: Document) -> None:
    assert pod(state, UNREADY).failure is None
    assert pod(state, UNREADY).failing_since is None


@pytest.mark.parametrize(
    ("label", "epoch"), [("3", 3), ("0", 0), (None, 0), ("", 0), ("three", 0), ("-1", 0), ("²", 0)]
)
def test_a_pod_that_somebody_labelled_is_read_all_the_same(label: str | None, epoch: int) -> None:
    labels = {} if label is None else {EPOCH_LABEL: label}
    document = {"metadata": {"name": "p", "uid": "u", "creationTimestamp": CREATED, "labels": labels}}
    assert PodView.of(document).epoch == epoch


@pytest.mark.parametrize(
    ("spec", "status", "since"),
    [
        ({}, {}, None),
        ({"nodeName": "node"}, {}, CREATED),
        ({"nodeName": "node"}, {"podIP": "10.0.0.1"}, None),
        (
            {"nodeName": "node"},
            {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": LATER}]},
            LATER,
        ),
        ({"nodeName": "node"}, {"containerStatuses": [{"state": {"waiting": {}}}]}, CREATED),
        ({"nodeName": "node"}, {"initContainerStatuses": [{"state": {"terminated": {}}}]}, None),
        ({"nodeName": "node"}, {"containerStatuses": [{"lastState": {"terminated": {}}}]}, None),
    ],
)
def test_a_pod_waits_for_its_node_from_when_it_was_placed_until_it_has_an_address(
    spec: Document, status: Document, since: str | None
) -> None:
    document = {"metadata": {"name": "p", "uid": "u", "creationTimestamp": CREATED}, "spec": spec}
    found = PodView.of({**document, "status": status}).placed_since
    assert found == (parse_time(since) if since else None)


@pytest.mark.parametrize("gone_by", [None, LATER])
def test_a_deleted_pod_says_when_it_has_ended_at_the_latest(gone_by: str | None) -> None:
    """The API server adds the grace period to the time of the deletion."""
    metadata = {"name": "p", "uid": "u", "creationTimestamp": CREATED}
    deleted = {"deletionTimestamp": gone_by} if gone_by else {}
    found = PodView.of({"metadata": {**metadata, **deleted}, "spec": {}, "status": {}})
    assert (found.deleting, found.gone_by) == (bool(gone_by), parse_time(gone_by) if gone_by else None)


@pytest.mark.parametrize(("said", "since"), [("True", LATER), ("False", None)])
def test_a_pod_is_known_to_have_been_scheduled_for_as_long_as_it_is_there(
    said: str, since: str | None
) -> None:
    condition = {"type": "PodScheduled", "status": said, "lastTransitionTime": LATER}
    metadata = {"name": "p", "uid": "u", "creationTimestamp": CREATED}
    status = {"podIP": "10.0.0.1", "conditions": [condition]}
    found = PodView.of({"metadata": metadata, "spec": {"nodeName": "node"}, "status": status}).scheduled
    assert found == (parse_time(since) if since else None)


@pytest.mark.parametrize(
    ("states", "since"),
    [
        ([], None),
        ([{"running": {"startedAt": CREATED}}, {"running": {"startedAt": LATER}}], LATER),
        ([{"running": {"startedAt": CREATED}}, {"waiting": {"reason": "ContainerCreating"}}], None),
        ([{"running": {}}], None),
    ],
)
def test_a_pod_runs_once_all_of_its_containers_do(states: list[Document], since: str | None) -> None:
    metadata = {"name": "p", "uid": "u", "creationTimestamp": CREATED}
    status = {"containerStatuses": [{"state": state} for state in states]}
    found = PodView.of({"metadata": metadata, "status": status}).running_since
    assert found == (parse_time(since) if since else None)


@pytest.mark.parametrize(
    ("status", "ended"),
    [
        ({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}, "Evicted: low on memory"),
        ({"phase": "Failed", "reason": "UnexpectedAdmissionError"}, "UnexpectedAdmissionError"),
        ({"phase": "Failed", "message": "m" * 5000}, "m" * MAX_TEXT),
        ({"phase": "Failed"}, None),
        ({"phase": "Running", "reason": "NodeLost", "message": "unreachable"}, None),
    ],
    ids=["both", "reason", "long message", "neither", "it runs"],
)
def test_a_pod_that_has_failed_says_why(status: Document, ended: str | None) -> None:
    metadata = {"name": "show-run-1", "uid": "u", "creationTimestamp": CREATED}
    assert PodView.of({"metadata": metadata, "status": status}).ended == ended
