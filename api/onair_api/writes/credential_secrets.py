"""Secrets of destinations and sources: immutable, and for a destination one per version.

The Secret is written first; one compare-and-swap of the resource then switches
address and reference together, so an old key never reaches a new address. What
the caller did not name keeps its reference (the mask's rules), also when only
the url changes: who may change the url may read the key anyway.
"""

from __future__ import annotations

import base64
import binascii

import structlog

from onair_api.cache.cluster import NAME, Cluster
from onair_api.cache.watched_kinds import CREDENTIALS
from onair_api.errors import RpcError
from onair_api.wire.message import FieldKind, Message
from onair_api.writes.identifiers import new_id
from onair_crds.contract.labels import CREDENTIALS_TYPE, DESTINATION_LABEL, MADE_BY_FACADE
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.errors import ApiError, ApiUnavailable
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document, JsonObject

log = structlog.get_logger()

_FETCHED = "secrets fetched"


class Credentials:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def values(self, message: Message, part: JsonObject, reader: Entry | None = None) -> dict[str, str]:
        """The secrets that an address member (`rtmpPush` …) refers to; what cannot be read is absent.

        Args:
            reader: for which the API server is asked no more than once for each Secret that the view lacks.
        """
        found = {}
        for field in message.fields.values():
            reference = part.get(field.reference) if field.secret else None
            if isinstance(reference, dict) and (value := await self.value(reference, reader)) is not None:
                found[field.name] = value
        return found

    async def value(self, reference: JsonObject, reader: Entry | None = None) -> str | None:
        """The value of one key (`key`) of a Secret (`name`); None if it cannot be read."""
        name = str(reference.get("name"))
        if reader is not None and self._cluster.view.get(CREDENTIALS, name) is None:
            if name in (asked := reader.records.setdefault(_FETCHED, set())):
                return None
            asked.add(name)
        secret = await self._secret(name)
        encoded = (secret.document.get("data") or {}).get(reference.get("key")) if secret else None
        try:
            return base64.b64decode(encoded).decode() if encoded is not None else None
        except (binascii.Error, ValueError):
            return None

    async def _secret(self, name: str) -> Entry | None:
        """The Secret, if it is one that shows may use; another replica may just have made it."""
        cluster = self._cluster
        known = cluster.view.get(CREDENTIALS, name)
        if known or not NAME.fullmatch(name):
            return known
        try:
            document = await cluster.client.get(SECRETS, cluster.namespace(CREDENTIALS), name)
        except ApiError:
            return None
        return cluster.view.put(CREDENTIALS, document) if document.get("type") == CREDENTIALS_TYPE else None

    async def store(self, values: dict[str, str], destination: str) -> str:
        """Writes a new Secret of a destination; gives its name."""
        name = f"destination-{new_id()}"
        await self.create(name, values, {DESTINATION_LABEL: destination})
        log.info("credentials.stored", secret=name, destination=destination)
        return name

    async def create(self, name: str, values: dict[str, str], labels: dict[str, str]) -> None:
        """Creates a Secret with credentials.

        Raises:
            ApiError: there is one of this name, or the API server did not respond.
        """
        document: Document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": CREDENTIALS_TYPE,
            "immutable": True,
            "metadata": {"name": name, "labels": {**MADE_BY_FACADE, **labels}},
            "data": {k: base64.b64encode(v.encode()).decode() for k, v in values.items()},
        }
        cluster = self._cluster
        created = await cluster.client.create(
            cluster.api(CREDENTIALS), cluster.namespace(CREDENTIALS), document
        )
        cluster.view.put(CREDENTIALS, created)

    async def discard(self, name: str) -> None:
        """Deletes a Secret that no resource came to name. The operator sweeps what stays behind."""
        try:
            await self.delete(name)
        except ApiError as error:
            log.warning("credentials.left_behind", secret=name, error=type(error).__name__)

    async def delete(self, name: str) -> None:
        """Deletes a Secret, if it is there.

        Raises:
            ApiError: the API server did not respond.
        """
        cluster = self._cluster
        # Not what is known afterwards: the watch may have brought its successor
        known = cluster.view.entry(CREDENTIALS, name)
        gone = [known.uid] if known else []
        try:
            response = await cluster.client.delete(
                cluster.api(CREDENTIALS), cluster.namespace(CREDENTIALS), name
            )
        except ApiError as error:
            if not error.not_found:
                raise
        else:
            if uid := (response.get("details") or {}).get("uid"):
                gone.append(uid)
        for uid in gone:
            cluster.view.remove(CREDENTIALS, name, uid)


def was_refused(error: BaseException) -> bool:
    """Whether a write that ended by this error certainly did not happen.

    One that was cancelled, or met no response, may have reached the API server: what it names has to stay,
    and the operator sweeps what nothing names.
    """
    return isinstance(error, (ApiError, RpcError)) and not isinstance(error, ApiUnavailable)


def inline_secrets(message: Message, part: JsonObject) -> dict[str, str]:
    """Takes the secret values out of an address member; they are in no resource at any time."""
    names = [f.name for f in message.fields.values() if f.secret and f.kind is FieldKind.STRING]
    return {name: part.pop(name) for name in names if name in part}
