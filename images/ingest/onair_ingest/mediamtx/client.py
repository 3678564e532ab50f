"""MediaMTX' API. Its answers hold stream keys: no error carries any of them."""

from __future__ import annotations

from typing import TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from onair_ingest.mediamtx.records import Path, PathName, PathSource, PublisherConnection, RecordPage

T = TypeVar("T", bound=BaseModel)

PAGE_ITEMS = 10_000
"""One page but for the largest servers: a path that comes or goes between two pages shifts all others."""
CONNECTIONS = {"rtmpConn": "rtmpconns", "rtmpsConn": "rtmpsconns", "srtConn": "srtconns"}
"""Types of sources that are connections of publishers, and what the API calls them."""


class MediaMtxUnavailable(Exception):
    """MediaMTX did not respond as it should. `ended`: nothing listens there any more."""

    def __init__(self, reason: str, *, ended: bool = False) -> None:
        super().__init__(reason)
        self.ended = ended


class MediaMtx:
    """Requests to MediaMTX' API."""

    def __init__(
        self, session: aiohttp.ClientSession, api_url: str, timeout_s: float, password: str = ""
    ) -> None:
        self._session = session
        self._url = api_url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._auth = aiohttp.BasicAuth("onair", password) if password else None

    async def paths(self) -> list[Path]:
        """All paths of the server.

        Raises:
            MediaMtxUnavailable
        """
        return await self._all(RecordPage[Path], "/v3/paths/list")

    async def connections(self, type_: str) -> list[PublisherConnection]:
        """All connections of publishers of one type of source.

        Raises:
            MediaMtxUnavailable
        """
        return await self._all(RecordPage[PublisherConnection], f"/v3/{CONNECTIONS[type_]}/list")

    async def connection(self, source: PathSource) -> PublisherConnection | None:
        """A publisher's connection; None if it is closed.

        Raises:
            MediaMtxUnavailable
        """
        text = await self._call("GET", f"/v3/{CONNECTIONS[source.type]}/get/{source.id}")
        return _parsed(PublisherConnection, text) if text else None

    async def source_of(self, protocol: str, connection: str) -> PathSource | None:
        """A connection by what MediaMTX' hook says of it, which knows RTMP and RTMPS by one name.

        Raises:
            MediaMtxUnavailable
        """
        types = ("srtConn",) if protocol == "srt" else ("rtmpConn", "rtmpsConn")
        for source in (PathSource(type=each, id=connection) for each in types):
            if await self.connection(source):
                return source
        return None

    async def kick(self, source: PathSource) -> None:
        """Closes a publisher's connection, if it is still there.

        Raises:
            MediaMtxUnavailable
        """
        await self._call("POST", f"/v3/{CONNECTIONS[source.type]}/kick/{source.id}")

    async def set_path(self, name: str, source: str) -> None:
        """Makes a path that the server pulls from an address at once, and again whenever that ends.

        Raises:
            MediaMtxUnavailable
        """
        # The passphrase of publishers is a default of paths, and refused for those of nobody.
        path = {"source": source, "srtPublishPassphrase": ""}
        await self._call("POST", f"/v3/config/paths/replace/{name}", path)

    async def delete_path(self, name: str) -> None:
        """Ends a path that `set_path` made, if it is there.

        Raises:
            MediaMtxUnavailable
        """
        await self._call("DELETE", f"/v3/config/paths/delete/{name}")

    async def configured_paths(self, prefix: str) -> list[str]:
        """The names of all paths that `set_path` made whose names begin so.

        Raises:
            MediaMtxUnavailable
        """
        page = _parsed(
            RecordPage[PathName], await self._call("GET", f"/v3/config/paths/list?itemsPerPage={PAGE_ITEMS}")
        )
        return [path.name for path in page.items if path.name.startswith(prefix)]

    async def _all(self, model: type[RecordPage[T]], path: str) -> list[T]:
        items: list[T] = []
        number, pages = 0, 1
        while number < pages:
            text = await self._call("GET", f"{path}?itemsPerPage={PAGE_ITEMS}&page={number}")
            page = _parsed(model, text)
            items += page.items
            number, pages = number + 1, page.page_count
        return items

    async def _call(self, method: str, path: str, body: dict[str, str] | None = None) -> str:
        """The text of a response; empty if there is no such thing."""
        url = self._url + path
        try:
            async with self._session.request(
                method, url, json=body, timeout=self._timeout, auth=self._auth, allow_redirects=False
            ) as response:
                text = await response.text()
        except aiohttp.ClientConnectorError as error:
            raise MediaMtxUnavailable("nothing listens at its API", ended=True) from error
        except (aiohttp.ClientError, TimeoutError, UnicodeDecodeError) as error:
            raise MediaMtxUnavailable(type(error).__name__) from error
        if response.status == 404:
            return ""
        if response.status >= 300:
            raise MediaMtxUnavailable(f"HTTP {response.status}")
        return text


def _parsed(model: type[T], text: str) -> T:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise MediaMtxUnavailable("not a response of its API") from error
