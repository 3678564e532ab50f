"""HLS previews of sources: their addresses, and their playlists and segments, fetched from the gateway."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from urllib.parse import quote

import aiohttp
import structlog

from onair_api.access.ownership import owned_collection, owner_in, source_of
from onair_api.auth.callers import Caller
from onair_api.auth.identity import Origin
from onair_api.auth.ingest_secret import IngestSecret
from onair_api.auth.play_tokens import PlayToken, Purpose, decode, opening
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import COLLECTION, SOURCE
from onair_api.errors import FailedPrecondition, NotFound, ResourceExhausted, Unauthenticated, Unavailable
from onair_api.operation import Ids
from onair_api.settings import Settings
from onair_crds.contract.ingest import is_enabled
from onair_crds.contract.ingest_gateway import STREAMS_PATH, reader_token
from onair_crds.contract.previews import FIRST_SEGMENT_S, HLS_PLAYLIST, HLS_SUFFIX
from onair_crds.kube.store import Entry
from onair_crds.runtime.bounded_body import bounded_body
from onair_crds.shapes import JsonObject

log = structlog.get_logger()

PATH = "/live/v2/preview/hls"
"""Before a player's token and what it asks for."""
MASTER, MEDIA = "index.m3u8", "media.m3u8"
BANDWIDTH_BPS = 6_000_000
"""A playlist of playlists has to say one; there is nothing to choose from."""
CONNECT_S, PLAYLIST_S, SEGMENT_S = 2.0, FIRST_SEGMENT_S + 3.0, 60.0
"""A segment that a player has not taken in this time is cut off."""
MAX_PLAYLIST_BYTES = 64 * 1024
PART_BYTES = 64 * 1024
MOST_OF_ONE, MOST_OF_ALL = 6, 256
"""Requests of one player, and of all players of this replica, at once. Those of one service's sources are no
more than is left of the latter: it may have half, two a third each, and the next one still gets some."""
RETRY_S = 2


class HlsPreviews:
    def __init__(
        self,
        cluster: Cluster,
        secret: IngestSecret,
        settings: Settings,
        has_ended: Callable[[Origin], Awaitable[bool]],
    ) -> None:
        """
        Args:
            has_ended: whether what a token goes back to was revoked or deleted.
        """
        self._cluster = cluster
        self._has_ended = has_ended
        self._secret = secret
        self._public_url = settings.public_url.rstrip("/")
        self._gateways = {each.name: each.url.rstrip("/") for each in settings.ingest.gateways}
        self._session: aiohttp.ClientSession | None = None
        self._running: Counter[str] = Counter()
        self._of_services: Counter[str] = Counter()

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    async def get(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Whether a source can be played, and where."""
        await owned_collection(self._cluster, caller.identity, ids["collectionId"])
        entry = await source_of(self._cluster, ids["collectionId"], ids["sourceId"])
        if not self._gateways or not is_enabled(entry.spec):
            return {"enabled": False}
        token = opening(entry.name, entry.uid, time.time(), caller.token.expires, caller.identity)
        return {"enabled": True, "url": self._url(token.encode(await self._known_secret()), MASTER)}

    async def master(self, token: str) -> str:
        """The playlist that an address leads to: it names the player's own.

        Raises:
            Unauthenticated: the token has expired, has ended with what it goes back to, or is none.
            NotFound: the source is gone, or there is no ingest.
            Unavailable: the installation's secret cannot be read.
        """
        secret = await self._known_secret()
        opened = await self._verified(token, secret, Purpose.OPEN)
        self._source(opened)
        media = f"../{quote(opened.to_play().encode(secret))}/{MEDIA}"
        return f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-STREAM-INF:BANDWIDTH={BANDWIDTH_BPS}\n{media}\n"

    async def playlist(self, token: str) -> str:
        """The player's playlist as it is now.

        Raises:
            Unauthenticated: the token has expired, has ended with what it goes back to, or is none.
            NotFound: the source is gone, or not connected, or there is no ingest.
            FailedPrecondition: nothing that it sends is played.
            ResourceExhausted: too many requests at once.
            Unavailable: the gateway does not respond, or there is no segment yet.
        """
        async with self._fetched(token, HLS_PLAYLIST, PLAYLIST_S) as response:
            try:
                return (await bounded_body(response, MAX_PLAYLIST_BYTES)).decode()
            except ValueError as error:
                raise Unavailable("the gateway's playlist cannot be read") from error

    @contextlib.asynccontextmanager
    async def segment(self, token: str, name: str) -> AsyncIterator[tuple[int, AsyncIterator[bytes]]]:
        """Size and parts of a segment; errors are those of `playlist`."""
        async with self._fetched(token, name, SEGMENT_S) as response:
            yield response.content_length or 0, response.content.iter_chunked(PART_BYTES)

    @contextlib.asynccontextmanager
    async def _fetched(
        self, token: str, name: str, timeout_s: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        secret = await self._known_secret()
        entry = self._source(await self._verified(token, secret, Purpose.PLAY))
        gateway, stream = self._gateways.get(str(entry.status.get("gateway"))), entry.status.get("stream")
        if gateway is None or not stream:
            raise NotFound("the source is not connected")
        url = f"{gateway}{STREAMS_PATH}/{quote(stream, safe='')}{HLS_SUFFIX}/{quote(name, safe='')}"
        headers = {"Authorization": f"Bearer {reader_token(secret, stream)}"}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        with self._counted(token, self._service(entry)):
            try:
                async with (
                    asyncio.timeout(timeout_s),
                    self._http().get(
                        url, headers=headers, timeout=timeout, allow_redirects=False
                    ) as response,
                ):
                    if response.status == 404:
                        raise NotFound("the source is not connected, or the segment is too old")
                    if response.status == 415:
                        raise FailedPrecondition("the source sends neither H.264 nor AAC")
                    if response.status != 200:
                        raise Unavailable("there is no segment yet; try again", retry_after_s=RETRY_S)
                    yield response
            except (TimeoutError, aiohttp.ClientError) as error:
                log.info("hls.not_fetched", source=entry.name, error=type(error).__name__)
                raise Unavailable(
                    "the ingest gateway does not respond in time", retry_after_s=RETRY_S
                ) from error

    @contextlib.contextmanager
    def _counted(self, token: str, service: str) -> Iterator[None]:
        """While a request is made.

        Raises:
            ResourceExhausted: too many are already.
        """
        left = MOST_OF_ALL - self._of_services.total()
        if self._running[token] >= MOST_OF_ONE or self._of_services[service] >= left:
            raise ResourceExhausted("too many requests of players at once", retry_after_s=RETRY_S)
        counts = ((self._running, token), (self._of_services, service))
        for count, name in counts:
            count[name] += 1
        try:
            yield
        finally:
            for count, name in counts:
                count[name] -= 1
                if not count[name]:
                    del count[name]

    def _service(self, source: Entry) -> str:
        """Id of the service that a source belongs to."""
        collection = self._cluster.view.get(COLLECTION, str(source.spec.get("collectionId")))
        owner = owner_in(collection) if collection else None
        return owner[0] if owner else ""

    async def _verified(self, token: str, secret: bytes, purpose: Purpose) -> PlayToken:
        found = decode(token, secret, purpose, time.time())
        if found is None or await self._has_ended(found):
            raise Unauthenticated("the address of the preview is no longer valid; request another")
        return found

    def _source(self, token: PlayToken) -> Entry:
        entry = self._cluster.view.get(SOURCE, token.source)
        if entry is None or entry.uid != token.uid or entry.deleting or not is_enabled(entry.spec):
            raise NotFound("there is no such source")
        return entry

    async def _known_secret(self) -> bytes:
        if not self._gateways:
            raise NotFound("there are no previews of sources")
        secret = await self._secret.get()
        if secret is None:
            raise Unavailable("the installation's secret of ingest cannot be read", retry_after_s=RETRY_S)
        return secret

    def _url(self, token: str, name: str) -> str:
        return f"{self._public_url}{PATH}/{quote(token)}/{name}"

    def _http(self) -> aiohttp.ClientSession:
        """Of the loop that first asks."""
        if self._session is None:
            # Requests never wait for a connection: 100 is the default.
            # A gateway that is restarted has another address under its name.
            connector = aiohttp.TCPConnector(limit=MOST_OF_ALL, use_dns_cache=False)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False, trust_env=False)
        return self._session
