"""What is swept: where deletions fail, and where a clock is wrong."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest

from onair_api.auth.expiry import GRACE, Sweeper
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import REVOKED_TOKEN
from onair_api.settings import Settings
from onair_crds.contract.labels import EXPIRES_ANNOTATION
from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.shapes import Document

NOW = dt.datetime(2026, 11, 29, tzinfo=dt.UTC)
EXPIRY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
BEFORE, AFTER = EXPIRY - dt.timedelta(hours=1), EXPIRY + GRACE + dt.timedelta(seconds=1)


class ApiServerThatRefuses:
    """Refuses to delete the first of three objects, if there is an error to do it with."""

    def __init__(self, error: ApiError | None = None, time: dt.datetime | ApiError = NOW) -> None:
        self.error = error
        self._time = time
        self.deleted: list[str] = []
        self.cluster = Cluster(self, Settings())  # type: ignore[arg-type]
        self.add("expired", 3)

    def add(self, prefix: str, count: int) -> None:
        for number in range(count):
            name = f"{prefix}-{number}"
            annotations = {EXPIRES_ANNOTATION: EXPIRY.isoformat()}
            metadata = {"name": name, "uid": name, "resourceVersion": "1", "annotations": annotations}
            self.cluster.view.put(REVOKED_TOKEN, {"metadata": metadata})

    async def time(self, _: object, __: object) -> dt.datetime:
        if isinstance(self._time, ApiError):
            raise self._time
        return self._time

    async def delete(self, _: object, __: object, name: str) -> Document:
        if self.error and name == "expired-0":
            raise self.error
        self.deleted.append(name)
        return {}


@pytest.mark.parametrize(
    ("error", "deleted"),
    [
        (ApiError(422, "Invalid", "a webhook refuses it"), ["expired-1", "expired-2"]),
        (ApiUnavailable(503, "ServiceUnavailable", "no response"), []),
        (ApiError(403, "Forbidden", 'User "facade" cannot delete resource "secrets"'), []),
    ],
)
async def test_what_cannot_be_deleted_keeps_others_only_while_nothing_can(
    error: ApiError, deleted: list[str]
) -> None:
    server = ApiServerThatRefuses(error)
    await Sweeper(server.cluster, (REVOKED_TOKEN,), 60.0).sweep(NOW)
    assert server.deleted == deleted


@pytest.mark.parametrize(
    ("own_time", "server_time", "deleted"),
    [
        (AFTER, AFTER, 3),
        (AFTER, BEFORE, 0),
        (AFTER, EXPIRY + GRACE, 0),
        (BEFORE, AFTER, 0),
        (AFTER, ApiUnavailable(503, "ServiceUnavailable", "no response"), 0),
    ],
)
async def test_nothing_is_deleted_by_the_clock_of_one_replica(
    own_time: dt.datetime, server_time: dt.datetime | ApiError, deleted: int
) -> None:
    server = ApiServerThatRefuses(time=server_time)
    await Sweeper(server.cluster, (REVOKED_TOKEN,), 60.0).sweep(own_time)
    assert len(server.deleted) == deleted


async def test_others_have_their_turns_while_thousands_are_looked_at() -> None:
    server = ApiServerThatRefuses()
    server.add("valid", 20_000)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    await Sweeper(server.cluster, (REVOKED_TOKEN,), 60.0).sweep(BEFORE)
    beside.cancel()
    assert turns > 3
    assert not server.deleted
