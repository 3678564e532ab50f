"""Stream keys of pushed sources: one Secret each, under a name that follows from the source's."""

from __future__ import annotations

from collections.abc import Iterable

from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import CREDENTIALS
from onair_api.writes.credential_secrets import Credentials
from onair_api.writes.identifiers import new_id
from onair_crds.contract.ingest import STREAM_KEY, secret_name
from onair_crds.contract.labels import SOURCE_LABEL
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject


def is_pushed(spec: JsonObject) -> bool:
    """Whether a source needs a stream key."""
    address = spec.get("address") or {}
    return "rtmpPush" in address or "srtPush" in address


class StreamKeys:
    def __init__(self, cluster: Cluster, credentials: Credentials) -> None:
        self._cluster = cluster
        self._credentials = credentials

    async def of(self, source: Entry) -> str | None:
        """A source's key; None if it has none, such as one that `kubectl` made.

        What the view lacks is asked of the API server once: another replica may just have made it.
        """
        return await self._credentials.value({"name": secret_name(source.name), "key": STREAM_KEY}, source)

    async def assign(self, source_id: str) -> bool:
        """Makes a source's key; False if it has one.

        Raises:
            ApiError: the API server did not respond.
        """
        name = secret_name(source_id)
        if self._cluster.view.get(CREDENTIALS, name):
            return False
        try:
            key = new_id() + new_id()
            await self._credentials.create(name, {STREAM_KEY: key}, {SOURCE_LABEL: source_id})
        except ApiError as error:
            if not error.already_exists:
                raise
            return False
        return True

    async def replace(self, source_id: str) -> None:
        """Gives a source another key; what is connected by the former one stays until it disconnects.

        Raises:
            ApiError: the API server did not respond.
        """
        name = secret_name(source_id)
        await self._credentials.delete(name)
        if not await self.assign(source_id):
            # The operator was faster.
            await self._credentials.value({"name": name, "key": STREAM_KEY})

    async def discard(self, source_ids: Iterable[str]) -> None:
        """Deletes the keys of sources that are gone."""
        for source_id in source_ids:
            await self._credentials.discard(secret_name(source_id))
