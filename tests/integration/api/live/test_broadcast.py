"""Start, stop and status over HTTP, with the operator's part played by writes of status."""

from __future__ import annotations

import concurrent.futures
from typing import Any

import pytest
from tests.support.facade import Show, StoredResources, User
from tests.support.tokens import invite, seen_by
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

CONDITION: JsonObject = {"observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}
PREFIX = "PROJECT_BROADCAST_PHASE_"


def phase(show: Show) -> str:
    return str(show.status()["phase"]).removeprefix(PREFIX)


def test_before_any_broadcast(show: Show) -> None:
    assert show.status() == {
        "collectionId": show.collection,
        "projectId": show.id,
        "phase": "PROJECT_BROADCAST_PHASE_NOT_RUNNING",
    }


def test_a_start_is_seen_at_once_and_a_second_one_changes_nothing(
    show: Show, resources: StoredResources
) -> None:
    run = show.start()
    assert show.status() == {
        "collectionId": show.collection,
        "projectId": show.id,
        "broadcastId": run,
        "phase": "PROJECT_BROADCAST_PHASE_WAITING",
    }
    assert show.start() == run
    assert resources.get("projects", show.id)["spec"]["broadcast"] == {"state": "Running", "id": run}
    assert show.get("?status=true")["status"] == show.status()
    assert "status" not in show.get("?status=false")
    assert "status" not in show.get()


def test_the_status_follows_the_operator(show: Show, resources: StoredResources) -> None:
    run = show.start()
    record: JsonObject = {
        "id": run,
        "phase": "Running",
        "start": "2026-01-02T03:04:05Z",
        "region": "eu-central-1",
        "datacenter": "zone-b",
    }
    resources.set_broadcast(show.id, record)
    wait_for(lambda: phase(show) == "RUNNING", "running is seen")
    status = show.status()
    assert status.pop("duration") > 0
    assert status == {
        "collectionId": show.collection,
        "projectId": show.id,
        "broadcastId": run,
        "start": "2026-01-02T03:04:05Z",
        "phase": "PROJECT_BROADCAST_PHASE_RUNNING",
        "region": "REGION_EU_CENTRAL_1",
        "datacenter": "zone-b",
    }
    show.stop()
    assert phase(show) == "STOPPING"
    assert resources.get("projects", show.id)["spec"]["broadcast"] == {"state": "Stopped", "stopped": run}
    record |= {"phase": "Stopped", "stop": "2026-01-02T03:04:15.500Z", "region": "basement"}
    resources.set_broadcast(show.id, record)
    wait_for(lambda: phase(show) == "STOPPED", "stopped is seen")
    status = show.status()
    assert (status["duration"], status["region"]) == (10_500, "REGION_UNSPECIFIED")
    assert status["stop"].endswith("Z")
    show.stop()
    assert phase(show) == "STOPPED"
    again = show.start()
    assert again != run
    assert show.status()["broadcastId"] == again
    assert phase(show) == "WAITING"


def test_a_run_that_ended_by_itself_can_be_followed_by_another(
    show: Show, resources: StoredResources
) -> None:
    run = show.start()
    resources.set_broadcast(show.id, {"id": run, "phase": "Stopped", "error": "DurationExceeded"})
    wait_for(lambda: phase(show) == "STOPPED", "stopped is seen")
    assert show.start() != run


def test_the_status_says_why(show: Show, resources: StoredResources) -> None:
    run = show.start()
    assert "reason" not in show.status(), "nobody has judged it yet"
    text = "no node of region us-west-1 has 1.5 CPU free; queued"
    ready = {**CONDITION, "type": "Ready", "status": "False", "reason": "NoCapacity", "message": text}
    resources.set_broadcast(show.id, {"id": run, "phase": "Waiting"}, conditions=[ready])
    wait_for(lambda: show.status().get("reason") == "NoCapacity", "the reason is seen")
    assert show.status()["message"] == text
    seen = seen_by(invite(show, "VIEWER"), show).status()
    assert (seen["reason"], "message" in seen) == ("NoCapacity", False)
    failed = {**ready, "reason": "EncoderFailed", "message": "encoders were lost again and again"}
    record = {"id": run, "phase": "Stopped", "error": "Internal"}
    resources.set_broadcast(show.id, record, conditions=[failed])
    wait_for(lambda: phase(show) == "STOPPED", "the end is seen")
    status = show.status()
    assert (status["reason"], status["error"]) == ("EncoderFailed", "PROJECT_BROADCAST_ERROR_INTERNAL")
    show.start()
    assert not {"reason", "message", "error"} & set(show.status()), "of the new run nothing is known"


def test_a_stop_before_the_operator_saw_the_start(show: Show) -> None:
    run = show.start()
    show.stop()
    assert (show.status()["broadcastId"], phase(show)) == (run, "STOPPED")
    assert show.start() != run


def test_a_stop_of_what_does_not_run(show: Show, resources: StoredResources) -> None:
    version = resources.get("projects", show.id)["metadata"]["resourceVersion"]
    show.stop()
    assert resources.get("projects", show.id)["metadata"]["resourceVersion"] == version


def test_put_and_query_parameters_are_accepted_too(show: Show) -> None:
    run = show.user.ok("PUT", f"{show.path}/broadcast/start?webrtcStart=true")["broadcastId"]
    assert show.start() == run
    assert show.user.ok("PUT", f"{show.path}/broadcast/stop?webrtcStop=false", {}) == {}
    assert show.user.call("POST", f"{show.path}/broadcast/start?webrtcStart=maybe").status_code == 400


def test_twenty_starts_at_once_are_one_run(show: Show, second_facade: Any) -> None:
    other = User(second_facade, show.user.token)
    users = [show.user, other]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        runs = list(
            pool.map(
                lambda n: users[n % 2].ok("POST", f"{show.path}/broadcast/start")["broadcastId"], range(20)
            )
        )
    assert len(set(runs)) == 1


def test_a_show_that_kubectl_started_is_known_and_stopped(show: Show, resources: StoredResources) -> None:
    resources.patch("projects", show.id, {"spec": {"broadcast": {"state": "Running"}}})
    resources.set_broadcast(show.id, {"id": "made-up", "phase": "Starting"})
    wait_for(lambda: phase(show) == "STARTING", "starting is seen")
    assert show.start() == "made-up"
    show.stop()
    wanted = resources.get("projects", show.id)["spec"]["broadcast"]
    assert wanted == {"state": "Stopped", "stopped": "made-up"}


def test_kubectl_starts_a_show_again_that_was_stopped_over_http(
    show: Show, resources: StoredResources
) -> None:
    run = show.start()
    show.stop()
    resources.set_broadcast(show.id, {"id": run, "phase": "Stopped"})
    resources.patch("projects", show.id, {"spec": {"broadcast": {"state": "Running"}}})
    assert "id" not in resources.get("projects", show.id)["spec"]["broadcast"]
    wait_for(lambda: phase(show) == "STOPPED", "the run before is over")
    again = show.start()
    assert again != run


@pytest.mark.parametrize(
    ("body", "updated"),
    [
        ({"composition": {"external": {"url": "https://new.example/"}}}, True),
        ({"rendering": {"video": {"framerate": 25}}}, True),
        ({"encoding": {"video": {"rateControl": {"targetBitrate": 999_999}}}}, True),
        ({"maxDuration": 1_000_000}, True),
        ({"rendering": {"video": {"framerate": 30}}}, False),
        ({"rendering": {"targetLatency": 900}}, True),
        ({"rendering": {"complexity": 2}}, False),
        ({"encoding": {"video": {"rateControl": {"targetBitrate": 3_145_728}}}}, False),
        ({"composition": {"scene": {}}}, False),
        ({"metadata": {"a": 1}}, False),
        ({"location": {"latitude": 1, "longitude": 2}}, False),
    ],
)
def test_an_update_says_whether_the_running_show_changed(
    show: Show, resources: StoredResources, body: JsonObject, updated: bool
) -> None:
    run = show.start()
    resources.set_broadcast(show.id, {"id": run, "phase": "Running"})
    wait_for(lambda: phase(show) == "RUNNING", "running is seen")
    assert show.patch(**body)["broadcastUpdated"] is updated
