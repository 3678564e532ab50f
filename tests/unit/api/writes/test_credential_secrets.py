"""Secrets that are replaced under the same name, beside a watch that is early or late."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import CREDENTIALS
from onair_api.live.source.stream_keys import StreamKeys
from onair_api.settings import Settings
from onair_api.writes.credential_secrets import Credentials
from onair_crds.contract.ingest import STREAM_KEY, secret_name
from onair_crds.contract.labels import CREDENTIALS_TYPE
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

SOURCE, NAME = "camera", secret_name("camera")


def secret(uid: str, version: int, key: str) -> Document:
    data = {STREAM_KEY: base64.b64encode(key.encode()).decode()}
    metadata = {"name": NAME, "uid": uid, "resourceVersion": str(version)}
    return {"type": CREDENTIALS_TYPE, "metadata": metadata, "data": data}


def source() -> Entry:
    return Entry("Source", {"metadata": {"name": SOURCE, "uid": SOURCE, "resourceVersion": "1"}})


class ApiServerWithOneSecret:
    """Has one, and an operator that may make its successor at once."""

    def __init__(self, *, operator_is_faster: bool) -> None:
        self.cluster = Cluster(self, Settings())  # type: ignore[arg-type]
        self.keys = StreamKeys(self.cluster, Credentials(self.cluster))
        self.stored: Document | None = secret("former", 1, "former-key")
        self.watch: Callable[[], None] = lambda: None
        """What it brings before the response to a deletion is read."""
        self._operator_is_faster = operator_is_faster

    async def get(self, *_: object) -> Document:
        if self.stored is None:
            raise ApiError(404, "NotFound", "")
        return self.stored

    async def delete(self, *_: object) -> Document:
        deleted, self.stored = self.stored, None
        if deleted is None:
            raise ApiError(404, "NotFound", "")
        if self._operator_is_faster:
            self.stored = secret("successor", 3, "of-the-operator")
        self.watch()
        return {"kind": "Status", "status": "Success", "details": {"uid": deleted["metadata"]["uid"]}}

    async def create(self, _: object, __: object, document: Document) -> Document:
        if self.stored is not None:
            raise ApiError(409, "AlreadyExists", "")
        key = base64.b64decode(document["data"][STREAM_KEY]).decode()
        self.stored = secret("successor", 3, key)
        return self.stored

    @property
    def key(self) -> str | None:
        """The one that admits a publisher."""
        encoded = self.stored and self.stored["data"][STREAM_KEY]
        return base64.b64decode(encoded).decode() if encoded else None


@pytest.mark.parametrize("operator_is_faster", [False, True])
@pytest.mark.parametrize("is_early", [False, True], ids=["a late watch", "an early watch"])
@pytest.mark.parametrize("is_known", [False, True], ids=["made elsewhere", "known"])
async def test_a_key_that_was_replaced_is_known_at_once_and_for_good(
    operator_is_faster: bool, is_early: bool, is_known: bool
) -> None:
    server = ApiServerWithOneSecret(operator_is_faster=operator_is_faster)
    view, reader = server.cluster.view, source()
    if is_known:
        view.put(CREDENTIALS, secret("former", 1, "former-key"))
    else:
        # It was asked for once, before there was one: it is not asked for again
        server.stored = None
        assert await server.keys.of(reader) is None
        server.stored = secret("former", 1, "former-key")

    def early() -> None:
        view.remove(CREDENTIALS, NAME, "former")
        if server.stored:
            view.update(CREDENTIALS, server.stored)

    if is_early:
        server.watch = early
    await server.keys.replace(SOURCE)
    assert await server.keys.of(reader) == server.key
    view.update(CREDENTIALS, secret("former", 2, "former-key"))
    view.remove(CREDENTIALS, NAME, "former")
    assert server.stored
    view.update(CREDENTIALS, {**server.stored, "metadata": {**server.stored["metadata"]}})
    assert await server.keys.of(reader) == server.key != "former-key"


async def test_no_key_of_the_former_secret_is_taken_for_the_new_one() -> None:
    """The watch brings what another replica made only once it is deleted."""
    server = ApiServerWithOneSecret(operator_is_faster=False)
    await server.cluster.client.delete(None, None, NAME)  # type: ignore[arg-type]
    server.stored = secret("former", 1, "former-key")
    credentials = Credentials(server.cluster)
    await credentials.delete(NAME)
    server.cluster.view.update(CREDENTIALS, secret("former", 1, "former-key"))
    assert server.cluster.view.get(CREDENTIALS, NAME) is None
    assert await server.keys.assign(SOURCE)
    assert await server.keys.of(source()) == server.key
