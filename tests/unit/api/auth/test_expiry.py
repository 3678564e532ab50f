"""What is swept where deletions fail."""

from __future__ import annotations

import datetime as dt

import pytest

from onair_api.auth.expiry import Sweeper
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import REVOKED_TOKEN
from onair_api.settings import Settings
from onair_crds.contract.labels import EXPIRES_ANNOTATION
from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.shapes import Document

NOW = dt.datetime(2026, 11, 29, tzinfo=dt.UTC)


class ApiServerThatRefuses:
    """Refuses to delete the first of three objects."""

    def __init__(self, error: ApiError) -> None:
        self.error = error
        self.deleted: list[str] = []
        self.cluster = Cluster(self, Settings())  # type: ignore[arg-type]
        for number in range(3):
            name = f"expired-{number}"
            annotations = {EXPIRES_ANNOTATION: "2026-01-01T00:00:00Z"}
            metadata = {"name": name, "uid": name, "resourceVersion": "1", "annotations": annotations}
            self.cluster.view.put(REVOKED_TOKEN, {"metadata": metadata})

    async def delete(self, _: object, __: object, name: str) -> Document:
        if name == "expired-0":
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
