"""The agent's side of an SRT session: a sender process, MPEG-TS into it, its reports out of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import onair_encoder
from onair_crds.contract.inside_addresses import InsideAddress, InsideRules
from onair_crds.contract.push_addresses import SrtAddress
from onair_crds.media.flv import Packet
from onair_crds.media.mpeg_ts import TransportStream
from onair_crds.session_error import SessionError, inside_error, name_error
from onair_encoder.publish.srt.libsrt import PAYLOAD_BYTES
from onair_encoder.publish.srt.refusals import refusal
from onair_encoder.publish.srt.sender_messages import SenderReport, SenderSettings

_SOURCE = str(Path(onair_encoder.__file__).parent.parent)
COMMAND = [sys.executable, "-S", "-m", "onair_encoder.publish.srt.sender_process"]
"""Without site packages. Secrets go through the socket, so that no process list has them."""
MAX_UNSENT_BYTES = 4 * 2**20
CONGESTED_MS, RELIEVED_MS, MARGIN_MS = 700, 200, 300
"""libsrt itself drops packets once they have waited for a second, or for the latency where that is longer,
wherever a frame is then torn. Frames are dropped the margin before that."""
MAX_PENDING_BYTES = 8 * 2**20
"""Of the ten that libsrt's buffer holds. While it is full nothing more is sent, so that nobody asks for what
was lost, and nothing leaves it."""
FINISH_S = 1.5
"""The sender waits for up to a second for the last acknowledgements."""
LEAVE_S = 0.3
WRITE_BUFFER_BYTES = 64 * 2**20


class SrtConnection:
    key_name = "stream id"
    one_size = False
    audio_continues = True
    """What was lost is retransmitted as the peer asks for it, which it does when something comes after it."""
    worn_out = False
    """The clock of MPEG-TS begins again, and receivers expect that."""
    settle_s = 0.25
    """Listeners accept a session and check its stream id after that: one that is in use is closed then."""

    def __init__(
        self, address: SrtAddress, passphrase: str | None, report_ms: float, inside: InsideRules
    ) -> None:
        """
        Args:
            report_ms: how often progress is to be reported.
            inside: where the listener must not be.
        """
        self._inside = inside
        self.written = 0
        self.grain_ms = report_ms
        self.closed: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()
        self._address = address
        self._passphrase = passphrase
        self._stream = TransportStream()
        self._report: SenderReport = {}
        self._congested_ms = CONGESTED_MS
        self._process: subprocess.Popen[bytes] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    @property
    def server(self) -> str:
        return self._address.server

    async def open(self) -> None:
        """Starts a sender; returns when it has a session.

        Raises:
            SessionError: it could not get one.
        """
        addresses = await self._addresses()
        ours, theirs = socket.socketpair()
        with theirs:
            # Popen only waits for the exec, a millisecond; asyncio's own way takes a thread per process.
            self._process = subprocess.Popen(  # noqa: ASYNC220
                COMMAND,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                env={**os.environ, "PYTHONPATH": _SOURCE, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        self._reader, self._writer = await asyncio.open_unix_connection(sock=ours)
        self._writer.transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
        address = self._address
        settings: SenderSettings = {
            "addresses": addresses,
            "streamid": address.stream_id,
            "latency": address.latency_ms,
            "pbkeylen": address.key_bytes,
            "passphrase": self._passphrase,
            "report_s": self.grain_ms / 1000,
        }
        self._writer.write(json.dumps(settings).encode() + b"\n")
        report = await self._next()
        if report is None:
            raise SessionError(f"{self.server}: the sender ended unexpectedly")
        if "rejected" in report:
            raise refusal(self.server, report["error"], report["rejected"])
        self._congested_ms = max(CONGESTED_MS, report.get("latency_ms", 0) - MARGIN_MS)
        self._reading = asyncio.create_task(self._read())

    async def _addresses(self) -> list[tuple[int, str, int]]:
        """Family, host and port of each address; the sender resolves nothing, as names may change."""
        host = self._address.host
        try:
            found = await self._inside.addresses(host, self._address.port)
        except InsideAddress as error:
            raise inside_error(host) from error
        except socket.gaierror as error:
            raise name_error(error.errno, host) from error
        except (OSError, UnicodeError) as error:
            raise name_error(None, host) from error
        return [(family, str(address[0]), int(address[1])) for family, address in found]

    async def _next(self) -> SenderReport | None:
        """The next report; None after the last."""
        try:
            line = await self._reader.readline()
            report: SenderReport | None = json.loads(line) if line else None
            return report
        except (OSError, ValueError):
            return None

    async def _read(self) -> None:
        lost = SessionError(f"{self.server}: the sender ended unexpectedly")
        while report := await self._next():
            if "over" in report:
                lost = SessionError(f"{self.server}: the server closed the connection")
                break
            self._report = report
        if not self.closed.done():
            self.closed.set_result(lost)

    def send(self, packet: Packet) -> None:
        if data := self._stream.pack(packet):
            self._writer.write(data)
            self.written += len(data)

    @property
    def over(self) -> bool:
        return self.closed.done() or self._writer.transport.is_closing()

    @property
    def congested(self) -> bool:
        return (
            self.unsent > MAX_UNSENT_BYTES
            or self._pending_bytes > MAX_PENDING_BYTES
            or self._report.get("pending_ms", 0) > self._congested_ms
        )

    @property
    def relieved(self) -> bool:
        # Audio, which continues, is always under way for a round trip
        waits_ms = self._report.get("pending_ms", 0) - self.round_trip_ms
        return (
            self.unsent < MAX_UNSENT_BYTES // 4
            and self._pending_bytes < MAX_PENDING_BYTES // 4
            and waits_ms < RELIEVED_MS * self._congested_ms / CONGESTED_MS
        )

    @property
    def _pending_bytes(self) -> int:
        """Bytes that libsrt has, and the peer has not acknowledged."""
        report = self._report
        return (report.get("accepted", 0) - report.get("settled", 0)) * PAYLOAD_BYTES

    @property
    def unsent(self) -> int:
        return int(self._writer.transport.get_write_buffer_size())

    @property
    def acknowledged(self) -> int:
        return int(self._report.get("acked", 0)) * PAYLOAD_BYTES

    @property
    def idle(self) -> bool:
        settled = self._report.get("settled", 0) * PAYLOAD_BYTES
        return self.written - settled < PAYLOAD_BYTES

    @property
    def round_trip_ms(self) -> float:
        return float(self._report.get("rtt_ms", 0.0))

    async def finish(self) -> None:
        """Lets the sender deliver what it has, then end the session at the server."""
        if self._process is None or self.closed.done():
            self.abort()
            return
        with contextlib.suppress(OSError):
            self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FINISH_S):
                await asyncio.shield(self.closed)
        self.abort()

    def abort(self) -> None:
        """Terminates the sender, which ends the session at the server and waits for nothing."""
        if self._process is None or self._ending:
            return
        if self._process.poll() is None:
            self._process.terminate()
        self._ending = asyncio.create_task(self._reap(self._process))

    async def _reap(self, process: subprocess.Popen[bytes]) -> None:
        deadline = asyncio.get_running_loop().time() + LEAVE_S
        while process.poll() is None:
            if asyncio.get_running_loop().time() > deadline:
                process.kill()
            await asyncio.sleep(0.01)
        if self._reading:
            self._reading.cancel()
        if hasattr(self, "_writer"):
            self._writer.transport.abort()
