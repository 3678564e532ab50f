"""The commands that begin and end the publishing of a stream (Adobe RTMP 1.0, section 7.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.rtmp import amf
from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp.refusals import ended_by, refusal

MAX_COMMAND_BYTES = 64 * 1024
_CONNECT, _RELEASE, _ANNOUNCE, _CREATE, _PUBLISH, _WITHDRAW, _DELETE = range(1, 8)
"""Transactions."""


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
        self._pending: dict[float, asyncio.Future[list[Any]]] = {}
        """By transaction, those whose response is waited for."""

    def received(self, body: bytes) -> None:
        """Takes a command of the server's, in AMF0.

        Raises:
            AmfError: it is none.
        """
        if len(body) > MAX_COMMAND_BYTES:
            raise amf.AmfError(f"a command of {len(body)} bytes")
        match amf.decode(body):
            case ["_result", float() as transaction, *values]:
                self._respond(transaction, values)
            case ["_error", float() as transaction, *values]:
                if transaction in self._pending:
                    self._end(refusal(self._address, values[-1] if values else None))
            case ["onStatus", _, *_, dict() as status] if status.get("code") == "NetStream.Publish.Start":
                self._respond(_PUBLISH, [])
            case ["onStatus", _, *_, dict() as status]:
                if error := ended_by(self._address, status):
                    self._end(error)
            case ["close", *_]:
                self._end(SessionError(f"{self._address.server}: the server ended the stream"))

    def _respond(self, transaction: float, values: list[Any]) -> None:
        if waiting := self._pending.pop(transaction, None):
            waiting.set_result(values)

    def _end(self, error: SessionError) -> None:
        if not self._closed.done():
            self._closed.set_result(error)

    async def publish(self) -> int:
        """Asks to publish; returns the message stream's id once the server has agreed.

        Raises:
            SessionError: it refused, or ended the connection.
        """
        address = self._address
        await self._call("connect", _CONNECT, _connect_properties(address))
        self._command("releaseStream", _RELEASE, None, address.key)
        self._command("FCPublish", _ANNOUNCE, None, address.key)
        stream = _stream_id(await self._call("createStream", _CREATE, None))
        await self._call("publish", _PUBLISH, None, address.key, "live", stream=stream)
        return stream

    def unpublish(self, stream: int) -> None:
        self._command("FCUnpublish", _WITHDRAW, None, self._address.key)
        self._command("deleteStream", _DELETE, None, stream)

    async def _call(self, name: str, transaction: int, *values: object, stream: int = 0) -> list[Any]:
        """Sends a command and returns what is in the response to it.

        Raises:
            SessionError: it is an error, or the connection has ended.
        """
        response: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._pending[transaction] = response
        self._command(name, transaction, *values, stream=stream)
        waited: set[asyncio.Future[Any]] = {response, self._closed}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._pending.pop(transaction, None)
        if response.done():
            return response.result()
        raise self._closed.result()

    def _command(self, name: str, transaction: int, *values: object, stream: int = 0) -> None:
        self._send(stream, amf.encode(name, transaction, *values))


def _stream_id(values: list[Any]) -> int:
    """Of a response to `createStream`; servers that give none mean 1."""
    match values:
        case [*_, float() as number] if 0 <= number < 2**32:
            return int(number)
    return 1


def _connect_properties(address: RtmpAddress) -> dict[str, str]:
    return {
        "app": address.app,
        "type": "nonprivate",
        "flashVer": "FMLE/3.0 (compatible; OnAir)",
        "tcUrl": address.tc_url,
    }
