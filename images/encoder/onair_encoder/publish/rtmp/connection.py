"""Publishes to one RTMP or RTMPS server: one connection, from handshake to its end (Adobe RTMP 1.0)."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
from collections import deque
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from onair_encoder.media import amf
from onair_encoder.media.flv import AUDIO, SCRIPT, Packet
from onair_encoder.publish.rtmp import chunks
from onair_encoder.publish.rtmp.chunks import ChunkReader, Message, message_chunks
from onair_encoder.publish.session_error import SessionError, network_error
from onair_encoder.publish.tcp_progress import unacknowledged
from onair_encoder.publish.tls import client_context

_HANDSHAKE = 1536
_TCP_INFO_BYTES, _TCP_INFO_RTT, _TCP_INFO_ACKED = 128, 68, 120
"""Of Linux' `struct tcp_info`: a length, and the places of the round trip and of the bytes acknowledged."""
_CONTROL, _COMMAND, _AUDIO, _VIDEO, _DATA = 2, 3, 4, 6, 5
_ACK_WINDOW = 2_500_000
DEFAULT_PORTS = {"rtmp": 1935, "rtmps": 443}
STREAM_BUFFER_LIMIT = 2**20
MAX_UNSENT_BYTES = 8 * 2**20
MAX_BEHIND_MS = 10_000
"""What may wait in this process before pictures are left out: bytes, and time that they span."""
_KERNEL_BYTES = 256 * 1024
"""What waits beyond this waits in this process, where it can be left out, rather than in the kernel."""
_TCP_NOTSENT_LOWAT = 25
_SLACK_BYTES = 2 * _HANDSHAKE + 1 + 1024
"""Servers count the handshake among the bytes that they acknowledge, or do not."""
FIRST_MEDIUM_MS = 2000
"""Headers are sent at 0 and media from here on: a server that looks at the first two seconds of a
stream's own clock before it offers the stream (MediaMTX does) has then seen them at once."""


@dataclass(frozen=True)
class RtmpAddress:
    """Where to publish. `key` is the stream's name and secret: it is in no text of this class."""

    scheme: str
    host: str
    port: int
    app: str
    key: str

    @classmethod
    def of(cls, url: str, key: str | None) -> RtmpAddress:
        """From a url and a key; without a key the last part of the url's path is one.

        Raises:
            SessionError: the url has no host or no application.
        """
        parts = urlsplit(url)
        path = parts.path.strip("/")
        if key is None:
            path, _, key = path.rpartition("/")
        if parts.query:
            key = f"{key}?{parts.query}"
        if not parts.hostname or parts.scheme not in DEFAULT_PORTS:
            raise SessionError("the url has no server", permanent=True)
        if not key:
            raise SessionError("the url has no stream key", permanent=True)
        try:
            port = parts.port or DEFAULT_PORTS[parts.scheme]
        except ValueError as error:
            raise SessionError("the url's port is not a number up to 65535", permanent=True) from error
        return cls(parts.scheme, parts.hostname, port, path, key)

    @property
    def server(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def tc_url(self) -> str:
        return f"{self.scheme}://{self.server}/{self.app}"

    def __repr__(self) -> str:
        return f"RtmpAddress({self.tc_url!r})"


class RtmpConnection:
    """An open publishing session. Packets are written at once; what the server has taken is progress."""

    key_name = "stream key"
    grain_ms = 0.0
    settle_s = 0.0
    """A server that has agreed to the stream keeps it."""
    one_size = True

    def __init__(self, address: RtmpAddress, ack_window: int) -> None:
        """
        Args:
            ack_window: so many bytes after which the server is asked to acknowledge.
        """
        self.address = address
        self._ack_window = ack_window
        self._acks = 0
        self._acked = 0
        self._marks: deque[tuple[int, int]] = deque()
        """Bytes written before a key frame, and its time."""
        self.written = 0
        self.closed: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()
        """Done with the reason when the peer ends the session."""
        self._chunks = ChunkReader()
        self._answers: asyncio.Queue[list[Any]] = asyncio.Queue()
        self._stream = 0
        self._first_ms: int | None = None
        self._last_ms = 0
        self._reading: asyncio.Task[None] | None = None
        self._received = 0
        self._acknowledged = 0
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def open(self) -> None:
        """Connects and asks to publish; returns when the server has agreed.

        Raises:
            SessionError: with the reason in words.
        """
        try:
            await self._connect()
            await self._shake_hands()
        except asyncio.IncompleteReadError as error:
            raise SessionError(f"{self.address.server} ended the connection during the handshake") from error
        except OSError as error:
            raise network_error(error, self.address.host, self.address.server) from error
        self._reading = asyncio.create_task(self._read())
        await self._negotiate()

    async def _connect(self) -> None:
        context = await client_context() if self.address.scheme == "rtmps" else None
        try:
            self._reader, self._writer = await asyncio.open_connection(
                self.address.host,
                self.address.port,
                ssl=context,
                server_hostname=self.address.host if context else None,
                limit=STREAM_BUFFER_LIMIT,
            )
        except (ConnectionResetError, ssl.SSLEOFError) as error:
            if context is None:
                raise
            raise SessionError(f"{self.server} ended the TLS handshake; it may not speak RTMPS") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, _KERNEL_BYTES)
        self._writer.transport.set_write_buffer_limits(high=64 * 2**20)

    @property
    def _socket(self) -> socket.socket:
        found: socket.socket = self._writer.get_extra_info("socket")
        return found

    async def _shake_hands(self) -> None:
        ours = b"\0" * 8 + os.urandom(_HANDSHAKE - 8)
        self._writer.write(b"\x03" + ours)
        version = await self._reader.readexactly(1)
        if version != b"\x03":
            raise SessionError(f"{self.address.server} does not speak RTMP")
        theirs = await self._reader.readexactly(_HANDSHAKE)
        self._writer.write(theirs)
        await self._reader.readexactly(_HANDSHAKE)

    async def _negotiate(self) -> None:
        address = self.address
        self._send(_CONTROL, chunks.SET_CHUNK_SIZE, 0, struct.pack(">I", chunks.OUT_CHUNK_SIZE))
        self._send(_CONTROL, chunks.WINDOW_ACK_SIZE, 0, struct.pack(">I", self._ack_window))
        connect = {
            "app": address.app,
            "type": "nonprivate",
            "flashVer": "FMLE/3.0 (compatible; OnAir)",
            "tcUrl": address.tc_url,
        }
        self._command("connect", 1, connect)
        await self._answer(1)
        self._command("releaseStream", 2, None, address.key)
        self._command("FCPublish", 3, None, address.key)
        self._command("createStream", 4, None)
        created = await self._answer(4)
        self._stream = int(created[-1]) if isinstance(created[-1], float) else 1
        self._command("publish", 5, None, address.key, "live", stream=self._stream)
        await self._publish_started()

    def _command(self, name: str, transaction: int, *values: object, stream: int = 0) -> None:
        body = amf.encode(name, transaction, *values)
        self._send(_COMMAND, chunks.COMMAND_AMF0, stream, body)

    def _send(self, chunk_stream: int, type_: int, stream: int, body: bytes, timestamp_ms: int = 0) -> None:
        pieces = message_chunks(chunk_stream, type_, stream, timestamp_ms, body)
        self._writer.writelines(pieces)
        self.written += sum(map(len, pieces))

    async def _next(self) -> list[Any]:
        answer = asyncio.create_task(self._answers.get())
        waited: set[asyncio.Future[Any]] = {answer, self.closed}
        done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if answer not in done:
            answer.cancel()
            raise self.closed.result()
        return answer.result()

    async def _answer(self, transaction: int) -> list[Any]:
        while True:
            answer = await self._next()
            if answer[0] == "_error" and answer[1] == transaction:
                raise SessionError(f"{self.address.server} refused: {self._described(answer)}")
            if answer[0] == "_result" and answer[1] == transaction:
                return answer

    async def _publish_started(self) -> None:
        while True:
            answer = await self._next()
            if answer[0] != "onStatus":
                continue
            code = str(answer[-1].get("code", "")) if isinstance(answer[-1], dict) else ""
            if code == "NetStream.Publish.Start":
                return
            if code == "NetStream.Publish.BadName":
                raise SessionError(f"{self.address.server} refuses the stream key, or it is in use")
            if code in ("NetStream.Publish.Denied", "NetStream.Publish.BadAuth"):
                raise SessionError(f"{self.address.server} refuses the stream key", permanent=True)
            raise SessionError(f"{self.address.server} refused: {self._described(answer)}")

    def _described(self, answer: list[Any]) -> str:
        info = answer[-1] if isinstance(answer[-1], dict) else {}
        text = str(info.get("description") or info.get("code") or "no reason given")
        for secret in (self.address.key, self.address.key.partition("?")[0]):
            text = text.replace(secret, "…") if secret else text
        return text[:200]

    async def _read(self) -> None:
        lost = SessionError(f"{self.address.server}: the server closed the connection")
        try:
            while data := await self._reader.read(65536):
                self._received += len(data)
                for message in self._chunks.feed(data):
                    self._message(message)
                self._acknowledge()
        except (OSError, ValueError) as error:
            lost = network_error(error, self.address.host, self.address.server)
        if not self.closed.done():
            self.closed.set_result(lost)

    def _acknowledge(self) -> None:
        if self._received - self._acknowledged >= _ACK_WINDOW // 4:
            self._acknowledged = self._received
            body = struct.pack(">I", self._received & 0xFFFFFFFF)
            self._send(_CONTROL, chunks.ACKNOWLEDGEMENT, 0, body)

    def _message(self, message: Message) -> None:
        match message.type:
            case chunks.USER_CONTROL if message.body[:2] == b"\0\x06":
                self._send(_CONTROL, chunks.USER_CONTROL, 0, b"\0\x07" + message.body[2:6])
            case chunks.ACKNOWLEDGEMENT if len(message.body) >= 4:
                self._acknowledged_by_peer(int.from_bytes(message.body[:4], "big"))
            case chunks.COMMAND_AMF0:
                self._answers.put_nowait(amf.decode(message.body) or [""])
            case chunks.COMMAND_AMF3:
                self._answers.put_nowait(amf.decode(message.body[1:]) or [""])

    def _acknowledged_by_peer(self, total: int) -> None:
        """The count is of 32 bits, and may have begun at the handshake."""
        self._acks += 1
        self._acked += (total - self._acked) & 0xFFFFFFFF

    def send(self, packet: Packet) -> None:
        """Writes one packet; times are relative to the first medium that this connection sent."""
        if self._first_ms is None and packet.type != SCRIPT and not packet.header:
            self._first_ms = packet.timestamp_ms - FIRST_MEDIUM_MS
        time_ms = 0 if self._first_ms is None else max(0, packet.timestamp_ms - self._first_ms)
        if packet.keyframe:
            self._marks.append((self.written, packet.timestamp_ms))
        self._last_ms = packet.timestamp_ms
        body = packet.body
        if packet.type == SCRIPT:
            chunk_stream, time_ms = _DATA, 0
            body = amf.encode("@setDataFrame") + body
        else:
            chunk_stream = _AUDIO if packet.type == AUDIO else _VIDEO
        self._send(chunk_stream, packet.type, self._stream, body, time_ms)

    @property
    def server(self) -> str:
        return self.address.server

    @property
    def over(self) -> bool:
        return self.closed.done() or self._writer.transport.is_closing()

    @property
    def congested(self) -> bool:
        return self.unsent > MAX_UNSENT_BYTES or self._behind_ms > MAX_BEHIND_MS

    @property
    def relieved(self) -> bool:
        return self.unsent < MAX_UNSENT_BYTES // 4 and self._behind_ms < MAX_BEHIND_MS // 4

    @property
    def _behind_ms(self) -> int:
        """Time that what waits in this process spans, to within a GOP."""
        gone = self.written - self.unsent
        while self._marks and self._marks[0][0] < gone:
            self._marks.popleft()
        return self._last_ms - self._marks[0][1] if self._marks else 0

    @property
    def idle(self) -> bool:
        """The server is not expected to acknowledge less than a window."""
        if self.unsent or self._unacknowledged:
            return False
        outstanding = self.written - self._acked
        return not self._server_acknowledges or outstanding < self._ack_window + _SLACK_BYTES

    @property
    def unsent(self) -> int:
        """Bytes that wait in this process."""
        return self._writer.transport.get_write_buffer_size()

    @property
    def _server_acknowledges(self) -> bool:
        """One acknowledgement may be a formality, two are a habit."""
        return self._acks > 1

    @property
    def taken(self) -> int:
        """Bytes that the server has acknowledged; where it does not do so, its TCP."""
        return self._acked if self._server_acknowledges else self._taken_by_tcp

    @property
    def _unacknowledged(self) -> int:
        """Bytes that TCP still holds."""
        try:
            return unacknowledged(self._socket)
        except OSError:
            return 0

    @property
    def _taken_by_tcp(self) -> int:
        """What TCP says, with TLS around it: of what was written some may not have been given to it yet."""
        return self._tcp("Q", _TCP_INFO_ACKED)

    @property
    def round_trip_ms(self) -> float:
        """TCP's smoothed round-trip time."""
        return self._tcp("I", _TCP_INFO_RTT) / 1000

    def _tcp(self, form: str, place: int) -> int:
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
            return int(struct.unpack_from(form, info, place)[0])
        except (OSError, struct.error):
            return 0

    async def finish(self) -> None:
        """Ends the stream as the protocol has it, then closes."""
        if self.closed.done():
            self.abort()
            return
        self._command("FCUnpublish", 6, None, self.address.key)
        self._command("deleteStream", 7, None, self._stream)
        self._writer.close()
        try:
            async with asyncio.timeout(1.0):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self.abort()
        if self._reading:
            self._reading.cancel()

    def abort(self) -> None:
        """Closes at once."""
        if self._reading:
            self._reading.cancel()
        if hasattr(self, "_writer"):
            self._writer.transport.abort()
