"""One publishing connection to an RTMP or RTMPS server: media out, acknowledgements in (Adobe RTMP 1.0)."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import deque

from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.media.flv import AUDIO, SCRIPT, Packet
from onair_crds.rtmp import amf, chunks
from onair_crds.rtmp.chunks import ChunkReader, RtmpMessage, message_chunks
from onair_crds.session_error import SessionError, network_error
from onair_encoder.publish.rtmp.acknowledgements import Acknowledgements
from onair_encoder.publish.rtmp.commands import Commands
from onair_encoder.publish.rtmp.handshake import shake_hands
from onair_encoder.publish.tcp_progress import TcpProgress

_CONTROL, _COMMAND, _AUDIO, _VIDEO, _DATA = 2, 3, 4, 6, 5
_ACK_WINDOW = 2_500_000
MAX_UNSENT_BYTES = 8 * 2**20
MAX_BEHIND_MS = 10_000
"""Frames are dropped once more waits in this process: bytes, and the time that they span."""
WRITE_BUFFER_BYTES = 64 * 2**20
_KERNEL_BYTES = 256 * 1024
"""More than this waits in this process, where it can be dropped, rather than in the kernel."""
_TCP_NOTSENT_LOWAT = 25
LAST_MS = 2**31 - 60_000
"""Many servers hold times in 31 bits; a session ends in good time before, on the 25th day."""
MOST_SAID_BYTES, MOST_SAID_BYTES_PER_S = 2**20, 64 * 1024
"""That a server says to a publisher, at first and in the long run: to parse more costs the other streams."""
LEAST_CHARGED_BYTES = 64
"""For each chunk: one may be of a single byte, and takes as long as one of that size."""
READ_BYTES = 1024
"""At most so many chunks are parsed before the other streams have a turn."""
FIRST_MEDIUM_MS = 2000
"""Headers are sent at 0 and media from here on: a server that inspects the first two seconds of a
stream's own clock before it offers the stream (MediaMTX does) has then seen them at once."""
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RtmpConnection:
    """Packets are written at once; what the server has acknowledged is progress."""

    key_name = "stream key"
    grain_ms = 0.0
    settle_s = 0.0
    """A server that has agreed to the stream keeps it."""
    one_size = True
    audio_continues = False
    """All that waits is sent, in order: audio would wait behind it, and make it more."""

    def __init__(self, address: RtmpAddress, streams: Streams, ack_window: int) -> None:
        """
        Args:
            ack_window: the number of bytes after which the server is asked to acknowledge.
        """
        self.address = address
        self.written = 0
        self.closed: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()
        """Done with the reason when the peer ends the session."""
        self._reader, self._writer = streams
        connection: socket.socket = self._writer.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, _KERNEL_BYTES)
        self._writer.transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
        self._tcp = TcpProgress(connection)
        self._ack_window = ack_window
        self._acknowledgements = Acknowledgements(ack_window)
        self._surplus = 0
        """Bytes that went to the server beside those of `written`: the handshake, and what TLS adds."""
        self._marks: deque[tuple[int, int]] = deque()
        """Bytes written before a key frame, and its time."""
        self._chunks = ChunkReader()
        self._commands = Commands(address, self._send_command, self.closed)
        self._stream = 0
        self._first_ms: int | None = None
        self._last_ms = 0
        self._reading: asyncio.Task[None] | None = None
        self._received = 0
        self._received_acknowledged = 0

    @classmethod
    async def publish(cls, address: RtmpAddress, streams: Streams, ack_window: int) -> RtmpConnection:
        """Asks the server on an open connection to take the stream; returns when it has agreed.

        Raises:
            SessionError: with the reason.
        """
        try:
            connection = cls(address, streams, ack_window)
        except OSError as error:
            # The server has closed the connection already
            streams[1].transport.abort()
            raise network_error(error, address.host, address.server) from error
        try:
            await connection._begin()
        except BaseException:
            connection.abort()
            raise
        return connection

    async def _begin(self) -> None:
        address = self.address
        try:
            await shake_hands(self._reader, self._writer, address.server)
        except OSError as error:
            raise network_error(error, address.host, address.server) from error
        self._reading = asyncio.create_task(self._read())
        self._send(_CONTROL, chunks.SET_CHUNK_SIZE, 0, struct.pack(">I", chunks.OUT_CHUNK_SIZE))
        self._send(_CONTROL, chunks.WINDOW_ACK_SIZE, 0, struct.pack(">I", self._ack_window))
        self._stream = await self._commands.publish()

    # -- to the server ----------------------------------------------------------------------------

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

    def _send(self, chunk_stream: int, type_: int, stream: int, body: bytes, timestamp_ms: int = 0) -> None:
        pieces = message_chunks(chunk_stream, type_, stream, timestamp_ms, body)
        self._writer.writelines(pieces)
        self.written += sum(map(len, pieces))

    def _send_command(self, stream: int, body: bytes) -> None:
        self._send(_COMMAND, chunks.COMMAND_AMF0, stream, body)

    # -- from the server --------------------------------------------------------------------------

    async def _read(self) -> None:
        ended = SessionError(f"{self.address.server}: the server closed the connection")
        try:
            began_s, charged = time.monotonic(), 0
            while data := await self._reader.read(READ_BYTES):
                self._received += len(data)
                before = self._chunks.taken
                for message in self._chunks.feed(data):
                    self._message(message)
                charged += max(len(data), LEAST_CHARGED_BYTES * (self._chunks.taken - before))
                if charged > MOST_SAID_BYTES + MOST_SAID_BYTES_PER_S * (time.monotonic() - began_s):
                    ended = SessionError(
                        f"{self.address.server} sends more than a server has to say to a publisher",
                        explained=True,
                    )
                    break
                self._acknowledge()
                await asyncio.sleep(0)  # what has come already is read without waiting
        except (OSError, ValueError) as error:
            ended = network_error(error, self.address.host, self.address.server)
        if not self.closed.done():
            self.closed.set_result(ended)

    def _acknowledge(self) -> None:
        if self._received - self._received_acknowledged >= _ACK_WINDOW // 4:
            self._received_acknowledged = self._received
            body = struct.pack(">I", self._received & 0xFFFFFFFF)
            self._send(_CONTROL, chunks.ACKNOWLEDGEMENT, 0, body)

    def _message(self, message: RtmpMessage) -> None:
        match message.type:
            case chunks.USER_CONTROL if message.body[:2] == b"\0\x06":
                self._send(_CONTROL, chunks.USER_CONTROL, 0, b"\0\x07" + message.body[2:6])
            case chunks.ACKNOWLEDGEMENT if len(message.body) >= 4:
                self._acknowledgements.take(int.from_bytes(message.body[:4], "big"), self.written)
            case chunks.COMMAND_AMF0:
                self._commands.received(message.body)
            case chunks.COMMAND_AMF3:
                self._commands.received(message.body[1:])

    # -- progress ---------------------------------------------------------------------------------

    @property
    def server(self) -> str:
        return self.address.server

    @property
    def over(self) -> bool:
        return self.closed.done() or self._writer.transport.is_closing()

    @property
    def worn_out(self) -> bool:
        return self._first_ms is not None and self._last_ms - self._first_ms > LAST_MS

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
    def unsent(self) -> int:
        """Bytes that wait in this process."""
        return self._writer.transport.get_write_buffer_size()

    @property
    def idle(self) -> bool:
        """The server is not expected to acknowledge anything just now."""
        if self.unsent or self._tcp.unacknowledged:
            return False
        return not self._acknowledgements.is_due(self.written)

    @property
    def acknowledged(self) -> int:
        """Bytes taken by the server: by its acknowledgements, and by its TCP's between them."""
        taken = self._tcp.acknowledged
        # Read after `taken`: what is taken meanwhile is counted once, and the surplus is never too large
        waits = self._tcp.unacknowledged + self.unsent
        self._surplus = max(self._surplus, taken + waits - self.written)
        return self._acknowledgements.progress(taken - self._surplus)

    @property
    def round_trip_ms(self) -> float:
        return self._tcp.round_trip_ms

    # -- the end ----------------------------------------------------------------------------------

    async def finish(self) -> None:
        """Ends the stream as the protocol prescribes, then closes."""
        if self.closed.done():
            self.abort()
            return
        self._commands.unpublish(self._stream)
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
        self._writer.transport.abort()
