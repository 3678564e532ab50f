"""Secrets of a write stay where it may have happened, and go where it certainly did not."""

from __future__ import annotations

import asyncio
import copy
from typing import Any, cast

import pytest

from onair_api.errors import Aborted, NotFound
from onair_api.live.destination.secret_versions import SecretVersions
from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject

REQUEST: JsonObject = {"address": {"rtmpPush": {"url": "rtmp://media.example/live", "key": "hunter2"}}}


class RecordingCredentials:
    def __init__(self) -> None:
        self.stored: list[str] = []

    async def store(self, _: dict[str, str], __: str) -> str:
        self.stored.append("destination-key")
        return "destination-key"

    async def values(self, *_: object) -> dict[str, str]:
        return {}

    async def value(self, _: JsonObject) -> str:
        return "a passphrase"

    async def discard(self, name: str) -> None:
        self.stored.remove(name)


@pytest.mark.parametrize(
    ("error", "stays"),
    [
        (asyncio.CancelledError(), True),
        (ApiUnavailable(503, "ServiceUnavailable", "no response in time"), True),
        (RuntimeError("a fault of ours"), True),
        (ApiError(422, "Invalid", "refused"), False),
        (Aborted("changed by others"), False),
        (NotFound("the destination does not exist"), False),
    ],
)
async def test_the_secret_of_a_write_that_may_have_happened_stays(error: BaseException, stays: bool) -> None:
    credentials = RecordingCredentials()

    async def write() -> None:
        async with SecretVersions(cast(Any, credentials), "main", 10_000, sees_secrets=True) as secrets:
            await secrets.created_spec("show", REQUEST)
            raise error

    with pytest.raises(type(error)):
        await write()
    assert credentials.stored == (["destination-key"] if stays else [])


@pytest.mark.parametrize("sees_secrets", [True, False])
async def test_an_update_leaves_the_stored_metadata_and_changes_nothing_in_place(sees_secrets: bool) -> None:
    reference = {"name": "destination-key", "key": "passphrase"}
    push = {"url": "srt://media.example:9000", "passphraseSecretRef": reference}
    spec = {"projectId": "show", "metadata": {"a": [[]]}, "address": {"srtPush": push}}
    metadata = {"name": "main", "uid": "u", "resourceVersion": "1"}
    entry = Entry("Destination", {"metadata": metadata, "spec": copy.deepcopy(spec)})
    credentials: Any = RecordingCredentials()
    async with SecretVersions(credentials, "main", 10_000, sees_secrets=sees_secrets) as secrets:
        wanted = await secrets.updated_spec({"enabled": True}, entry)
    assert wanted == {**spec, "enabled": True}
    assert entry.spec == spec
    assert wanted["metadata"] is entry.spec["metadata"]
