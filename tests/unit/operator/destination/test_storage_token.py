"""A session token that was used for its duration is told, and what is delivered with it continues."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

import pytest
from tests.support.plans import destination_statuses, plan
from tests.support.worlds import NOW, delivering, destination, encoder, on_air, pod, project, secret, world

from onair_crds.kube.store import Entry
from onair_crds.resources.destination import DestinationStatus
from onair_operator.cluster.actions import PushProgram, Requeue, ResourceEvent
from onair_operator.project.observed import ObservedProject
from onair_operator.secret.observed import SecretView

REF = {"name": "key", "key": "token"}
HOUR_MS = 3_600_000


def observed(
    duration_ms: int | None = HOUR_MS,
    age_s: float = 3600,
    *,
    token: bool = True,
    running: bool = True,
    enabled: bool = True,
    reported: list[Any] | None = None,
) -> ObservedProject:
    """A show with a destination whose token was given so long ago."""
    storage: dict[str, Any] = {
        "region": "eu",
        "bucket": "b",
        "accessKeySecretRef": REF,
        "secretKeySecretRef": REF,
        "packaging": {"hls": {}},
    }
    storage |= {"tokenSecretRef": REF} if token else {}
    storage |= {} if duration_ms is None else {"tokenDuration": duration_ms}
    given = dataclasses.replace(secret("key", token="s3cret"), written=NOW - dt.timedelta(seconds=age_s))
    return world(
        project(status={"broadcast": on_air()}) if running else project("Stopped"),
        pods=[pod()] if running else [],
        destinations=[destination(enabled=enabled, address={"objectStorage": storage})],
        secrets=[given],
        encoders=[encoder(destinations=[delivering()] if reported is None else reported)] if running else [],
    )


def told(world: ObservedProject) -> DestinationStatus:
    return destination_statuses(world)["main"]


def ready(world: ObservedProject) -> tuple[str, str]:
    condition = told(world).conditions[0]
    return condition.status, condition.reason


def test_a_token_that_was_used_for_its_duration_is_told_and_the_delivery_continues() -> None:
    show = observed()
    status = told(show)
    assert (status.connect, ready(show)) == ("Connected", ("False", "TokenExpired"))
    assert status.last_error
    assert "tokenDuration" in status.last_error
    assert "s3cret" not in status.last_error
    (push,) = [each for each in plan(show) if isinstance(each, PushProgram)]
    assert [each.id for each in push.program.destinations] == ["main"]
    events = [each for each in plan(show) if isinstance(each, ResourceEvent)]
    assert [each.warning for each in events if each.reason == "TokenExpired"] == [True]


def test_what_the_storage_says_is_the_error() -> None:
    refused = delivering(connect="Disconnected", error="the session token has expired")
    show = observed(reported=[refused])
    assert told(show).last_error == "the session token has expired"
    assert ready(show) == ("False", "TokenExpired")


def test_it_is_looked_at_again_when_the_duration_ends() -> None:
    show = observed(age_s=3590)
    assert ready(show) == ("True", "Connected")
    assert 10 in [each.after_s for each in plan(show) if isinstance(each, Requeue)]
    assert ready(observed(age_s=0)) == ("True", "Connected"), "of a token that was replaced"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"duration_ms": None}, ("True", "Connected")),
        ({"duration_ms": 0}, ("True", "Connected")),
        ({"token": False}, ("True", "Connected")),
        ({"enabled": False}, ("True", "Disabled")),
        ({"running": False}, ("False", "TokenExpired")),
    ],
)
def test_what_has_no_end_is_not_told_and_what_is_yet_to_be_used_is(
    given: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert ready(observed(**given)) == expected


def managed(time: str, fields: str) -> dict[str, Any]:
    return {"manager": "any", "time": time, "fieldsV1": {fields: {"f:any": {}}}}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], "2026-01-01T00:00:00Z"),
        ([managed("2026-01-02T00:00:00Z", "f:data")], "2026-01-02T00:00:00Z"),
        (
            [
                managed("2026-01-03T00:00:00Z", "f:data"),
                managed("2026-01-02T00:00:00Z", "f:data"),
                managed("2026-01-04T00:00:00Z", "f:metadata"),
            ],
            "2026-01-03T00:00:00Z",
        ),
        ([{"manager": "any"}, "nonsense"], "2026-01-01T00:00:00Z"),
    ],
)
def test_values_are_as_old_as_the_last_write_of_them(entries: list[Any], expected: str) -> None:
    metadata = {
        "name": "key",
        "uid": "u",
        "resourceVersion": "1",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": entries,
    }
    view = SecretView.of(Entry("Secret", {"metadata": metadata, "data": {}}))
    assert view.written == dt.datetime.fromisoformat(expected)
