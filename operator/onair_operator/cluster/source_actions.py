"""Carries out what plans want of sources and their streams."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Callable

import structlog

from onair_crds.contract.ingest import STREAM_KEY, secret_name
from onair_crds.contract.labels import CREDENTIALS_TYPE, MADE_BY_OPERATOR, SOURCE_LABEL
from onair_crds.contract.owners import owner_reference
from onair_crds.kube.apis import CUSTOM, SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.source import Source
from onair_crds.shapes import Document
from onair_operator.cluster.actions import CreateStreamKey, CutOff, ShowPreviews, WantPulls
from onair_operator.cluster.source_streams import source_of
from onair_operator.cluster.watched_kinds import SECRET, SOURCE
from onair_operator.cluster.world import World

log = structlog.get_logger()

KEY_BYTES = 20
SOURCES_AT_A_TIME = 8
"""Asked for because of publishers that may have to be cut off."""


class SourceActions:
    def __init__(
        self, client: KubeClient, world: World, namespace: str, take: Callable[[str, Document], str]
    ) -> None:
        """
        Args:
            take: takes a response of the API server, by its kind, into the store.
        """
        self._client = client
        self._world = world
        self._namespace = namespace
        self._take = take
        self._turns = asyncio.Semaphore(SOURCES_AT_A_TIME)
        self._listing: asyncio.Task[None] | None = None
        self._next_listing: asyncio.Task[None] | None = None

    async def carry_out(self, action: CreateStreamKey | CutOff | WantPulls | ShowPreviews) -> None:
        """Carries out an action for a source.

        Raises:
            ApiError: the API server did not respond, or refuses; not where it is asked, in the background and
                by one attempt, whether somebody is to be cut off: the next look sees what came of it.
        """
        match action:
            case CreateStreamKey():
                await self._create_stream_key(action.source)
            case CutOff() if action.unknown:
                name = f"{action.gateway}/{action.stream}"
                self._world.cut_offs.begin(name, lambda: self._cut_off_unknown(action))
            case CutOff():
                self._world.gateways.cut_off(action.gateway, action.stream)
            case WantPulls():
                self._world.gateways.want_pulls(action.gateway, action.pulls)
            case ShowPreviews():
                self._world.gateways.show_previews(action.room, action.shown)

    async def _create_stream_key(self, source: Source) -> None:
        """Makes the source's Secret; one that somebody else made meanwhile stays."""
        name = secret_name(source.name)
        labels = {**MADE_BY_OPERATOR, SOURCE_LABEL: source.name}
        owner = owner_reference(source.kind, source.name, source.uid)
        key = secrets.token_hex(KEY_BYTES)
        document: Document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": CREDENTIALS_TYPE,
            "immutable": True,
            "metadata": {"name": name, "labels": labels, "ownerReferences": [owner]},
            "data": {STREAM_KEY: base64.b64encode(key.encode()).decode()},
        }
        try:
            created = await self._client.create(SECRETS, self._namespace, document)
        except ApiError as error:
            if not error.already_exists:
                raise
            created = await self._client.get(SECRETS, self._namespace, name)
        else:
            log.info("stream-key.created", source=source.name)
        self._take(SECRET, created)

    async def _cut_off_unknown(self, action: CutOff) -> None:
        """Disconnects a publisher, unless a source turns out to have its stream."""
        try:
            known = await self._is_known(action.stream)
        except ApiError as error:
            log.warning(
                "ingest.not-cut-off", gateway=action.gateway, stream=action.stream, error=error.message
            )
            return
        if not known:
            self._world.gateways.cut_off(action.gateway, action.stream)

    async def _list_keys(self) -> None:
        """Lists stream keys afresh, once for all who ask before it has begun: many may be cut off at a time.

        Raises:
            ApiError: the API server did not respond, or refuses.
        """
        if self._next_listing is None:
            self._next_listing = asyncio.create_task(self._list_keys_after(self._listing))
            # Whoever waits for it may be cancelled.
            self._next_listing.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(self._next_listing)

    async def _list_keys_after(self, listing: asyncio.Task[None] | None) -> None:
        if listing:
            await asyncio.wait({listing})
        self._listing, self._next_listing = self._next_listing, None
        query = {"fieldSelector": f"type={CREDENTIALS_TYPE}"}
        async for page in self._client.pages(SECRETS, self._namespace, **query):
            for secret in page["items"]:
                self._take(SECRET, secret)

    async def _is_known(self, stream: str) -> bool:
        """Whether a source has the stream, by the API server's own word: who was let in may be news to us."""
        await self._list_keys()
        name = source_of(self._world.store, stream)
        if name is None:
            return False
        try:
            async with self._turns:
                self._take(SOURCE, await self._client.get(CUSTOM[SOURCE], self._namespace, name))
        except ApiError as error:
            if not error.not_found:
                raise
            return False
        return True
