"""The commands that begin and end the publishing of a stream (Adobe RTMP 1.0, section 7.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from onair_encoder.media import amf
from onair_encoder.publish.rtmp.address import RtmpAddress
from onair_encoder.publish.session_error import SessionError

MAX_REASON = 200
"""Characters of a server's own text that are passed on."""


class Commands:
    """Sends commands and matches the server's responses to them."""

    def __init__(
        self,
        address: RtmpAddress,
        send: Callable[[int, bytes], None],
        closed: asyncio.Future[SessionError],
    ) -> None:
        """
        Args:
            send: takes a message stream's id and a command in AMF0.
            closed: done with the reason when the peer ends the connection.
        """
        self._address = address
        self._send = send
        self._closed = closed
        self._responses: asyncio.Queue[list[Any]] = asyncio.Queue()

    def received(self, body: bytes) -> None:
        """Takes a command of the server's, in AMF0."""
        self._responses.put_nowait(amf.decode(body) or [""])

    async def publish(self) -> int:
        """Asks to publish; returns the message stream's id once the server has agreed.

        Raises:
            SessionError: it refused, or ended the connection.
        """
        address = self._address
        self._command("connect", 1, _connect_properties(address))
        await self._result(1)
        self._command("releaseStream", 2, None, address.key)
        self._command("FCPublish", 3, None, address.key)
        self._command("createStream", 4, None)
        created = (await self._result(4))[-1]
        stream = int(created) if isinstance(created, float) else 1
        self._command("publish", 5, None, address.key, "live", stream=stream)
        await self._publish_started()
        return stream

    def unpublish(self, stream: int) -> None:
        self._command("FCUnpublish", 6, None, self._address.key)
        self._command("deleteStream", 7, None, stream)

    def _command(self, name: str, transaction: int, *values: object, stream: int = 0) -> None:
        self._send(stream, amf.encode(name, transaction, *values))

    async def _next(self) -> list[Any]:
        response = asyncio.create_task(self._responses.get())
        waited: set[asyncio.Future[Any]] = {response, self._closed}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if response.done():
                return response.result()
            raise self._closed.result()
        finally:
            response.cancel()

    async def _result(self, transaction: int) -> list[Any]:
        while True:
            response = await self._next()
            if response[0] == "_error" and response[1] == transaction:
                raise SessionError(f"{self._address.server} refused: {self._reason(response)}")
            if response[0] == "_result" and response[1] == transaction:
                return response

    async def _publish_started(self) -> None:
        server = self._address.server
        while True:
            response = await self._next()
            if response[0] != "onStatus":
                continue
            code = str(response[-1].get("code", "")) if isinstance(response[-1], dict) else ""
            if code == "NetStream.Publish.Start":
                return
            if code == "NetStream.Publish.BadName":
                raise SessionError(f"{server} refuses the stream key, or it is in use")
            if code in ("NetStream.Publish.Denied", "NetStream.Publish.BadAuth"):
                raise SessionError(f"{server} refuses the stream key", permanent=True)
            raise SessionError(f"{server} refused: {self._reason(response)}")

    def _reason(self, response: list[Any]) -> str:
        info = response[-1] if isinstance(response[-1], dict) else {}
        text = str(info.get("description") or info.get("code") or "no reason given")
        for secret in (self._address.key, self._address.key.partition("?")[0]):
            text = text.replace(secret, "…") if secret else text
        return text[:MAX_REASON]


def _connect_properties(address: RtmpAddress) -> dict[str, str]:
    return {
        "app": address.app,
        "type": "nonprivate",
        "flashVer": "FMLE/3.0 (compatible; OnAir)",
        "tcUrl": address.tc_url,
    }
