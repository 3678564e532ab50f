"""A process that delivers to one SRT listener: takes settings and then MPEG-TS, reports its progress.

In a process of its own, as libsrt parses what strangers send. It is run without
site packages and imports next to nothing, so that it starts soon and stays small.

In: one line of JSON, the settings, then transport packets until the end of file,
which is the proper end. Out: lines of JSON; both are in `sender_messages.py`.
"""

from __future__ import annotations

import io
import json
import os
import signal
import threading
import time
from contextlib import nullcontext, suppress
from typing import Unpack

from onair_encoder.publish.srt import libsrt
from onair_encoder.publish.srt.libsrt import (
    BUFFER_PACKETS,
    PAYLOAD_BYTES,
    SendStatistics,
    SrtError,
    SrtSocket,
)
from onair_encoder.publish.srt.sender_messages import SenderReport, SenderSettings

CONNECT_TIMEOUT_MS, CONNECTS_MS = 5000, 9000
"""For one address of a name, and for all of them: the agent waits for ten seconds."""
MOST_ADDRESSES = 3
TIMED_OUT = 16
"""SRT_REJ_TIMEOUT"""
PEER_IDLE_TIMEOUT_MS = 40_000
"""libsrt's own timeout, above those of all destinations: the agent watches these."""
FIRST_BYTES_PER_S, BYTES_PER_S = 12_500_000, 125_000_000
"""Limits the first burst, with all frames since the last key frame: no receiver's socket buffer
would hold it. After that libsrt has no need to pace, which takes a timer for every packet."""
NULL_AFTER_S = 0.1
"""libsrt retransmits what a peer asks for, and a peer notices a loss only by what comes after it: where no
media do, an acknowledgement that is overdue is asked for with a null packet of MPEG-TS."""
_NULL_PACKET = b"\x47\x1f\xff\x10".ljust(188, b"\xff")
FIRST_REPORT_S = 0.01
FIRST_S = 1.0
DRAIN_S = 1.0
READ_BYTES = 64 * 1024


def report(**report: Unpack[SenderReport]) -> None:
    """Writes a report to the agent, as a line of JSON."""
    os.write(1, json.dumps(report).encode() + b"\n")


def end(code: int = 0) -> None:
    """Ends the process at once: the interpreter's own end would wait for threads."""
    os._exit(code)


class SrtSender:
    def __init__(self, media: io.BufferedReader) -> None:
        self._input = media
        self._settings: SenderSettings = json.loads(media.readline())
        self._socket = SrtSocket()
        self._latency_ms = 0
        """As agreed with the peer."""
        self._accepted = 0
        self._ended = threading.Event()
        self._silent = (-1, 0.0)
        """Packets of media accepted so far, and since when no other has been while some are pending."""

    def run(self) -> None:
        """Sends until the media end, or the session; without the agent, too, all that is under way."""
        self._connect()
        try:
            self._send()
        except BrokenPipeError:  # a session that nobody ends is open at the server for some seconds
            self._ended.wait(DRAIN_S)
        self._report(DRAIN_S, FIRST_REPORT_S, to_the_last=True)
        self._leave()

    def _send(self) -> None:
        signal.signal(signal.SIGTERM, lambda *_: self._leave())
        report(connected=True, latency_ms=self._latency_ms)
        threading.Thread(target=self._pass_on, daemon=True).start()
        self._report(FIRST_S, FIRST_REPORT_S)
        self._socket.set_bandwidth(BYTES_PER_S)
        self._report(float("inf"), self._settings["report_s"])

    def _connect(self) -> None:
        addresses = self._settings["addresses"][:MOST_ADDRESSES]
        timeout_ms = min(CONNECT_TIMEOUT_MS, CONNECTS_MS // len(addresses))
        for number, (family, host, port) in enumerate(addresses, 1):
            try:
                self._connect_to(family, host, port, timeout_ms)
                return
            except SrtError as error:
                nobody_there = error.reject in (0, TIMED_OUT)
                if number < len(addresses) and nobody_there:
                    # As of IPv6 where the network has none
                    self._socket.shut()
                    self._socket = SrtSocket()
                    continue
                report(rejected=error.reject, error=error.error)
                end(1)

    def _connect_to(self, family: int, host: str, port: int, timeout_ms: int) -> None:
        """
        Raises:
            SrtError: the session could not be had.
        """
        settings, srt = self._settings, self._socket
        # A session with a passphrase on only one side is refused: nobody could play its stream.
        options: list[tuple[int, int | str]] = [
            (libsrt.SENDER, 1),
            (libsrt.CONNTIMEO, timeout_ms),
            (libsrt.PEERIDLETIMEO, PEER_IDLE_TIMEOUT_MS),
            (libsrt.LATENCY, settings["latency"]),
            (libsrt.ENFORCEDENCRYPTION, 1),
        ]
        if settings["passphrase"]:
            options += (libsrt.PBKEYLEN, settings["pbkeylen"]), (libsrt.PASSPHRASE, settings["passphrase"])
        if settings["streamid"]:
            options.append((libsrt.STREAMID, settings["streamid"]))
        for option, value in options:
            srt.set(option, value)
        srt.set_bandwidth(FIRST_BYTES_PER_S)
        srt.connect(family, host, port)
        self._latency_ms = srt.peer_latency_ms

    def _pass_on(self) -> None:
        rest = b""
        try:
            while data := self._input.read1(READ_BYTES):
                rest += data
                whole = len(rest) - len(rest) % PAYLOAD_BYTES
                for at in range(0, whole, PAYLOAD_BYTES):
                    self._socket.send(rest[at : at + PAYLOAD_BYTES])
                    self._accepted += 1
                rest = rest[whole:]
            if rest:
                self._socket.send(rest)
                self._accepted += 1
        except SrtError:
            return  # the other thread notices, and reports it
        self._ended.set()

    def _report(self, for_s: float, every_s: float, *, to_the_last: bool = False) -> None:
        """Reports progress until the media end, or with `to_the_last` until all is acknowledged."""
        deadline = time.monotonic() + for_s
        before: SenderReport = {}
        while time.monotonic() < deadline:
            if to_the_last:
                time.sleep(every_s)
            elif self._ended.wait(every_s):
                return
            accepted = self._accepted
            progress = self._socket.progress()
            if progress is None or self._socket.over:
                report(over=True)
                end(1)
                return
            progress_report: SenderReport = {
                "acked": accepted - progress.pending - progress.dropped,
                "settled": accepted - progress.pending,
                "accepted": accepted,
                "dropped": progress.dropped,
                "pending_ms": progress.pending_ms,
                "rtt_ms": round(progress.rtt_ms, 1),
            }
            if progress_report != before:
                with suppress(BrokenPipeError) if to_the_last else nullcontext():
                    report(**progress_report)
                before = progress_report
            if to_the_last and not progress.pending:
                return
            self._ask(accepted, progress)

    def _ask(self, accepted: int, progress: SendStatistics) -> None:
        """Has the peer ask for what it lacks, where no media do.

        The packet counts as pending but not as accepted, so no media count as acknowledged too early.
        """
        now = time.monotonic()
        if accepted != self._silent[0] or not progress.pending:
            self._silent = (accepted, now)
            return
        # Longer than an acknowledgement takes: the one of this packet is not awaited with another
        due_s = max(NULL_AFTER_S, 2 * progress.rtt_ms / 1000)
        # Where the buffer is full `send` would wait
        if now - self._silent[1] > due_s and progress.pending < BUFFER_PACKETS // 2:
            self._silent = (accepted, now)
            with suppress(SrtError):  # the next report says that the session is over
                self._socket.send(_NULL_PACKET)

    def _leave(self) -> None:
        self._socket.shut()
        end()


def main() -> None:
    """Runs the process until its input ends, or its session."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        SrtSender(io.BufferedReader(io.FileIO(0), READ_BYTES)).run()
    except BrokenPipeError:
        end(1)


if __name__ == "__main__":
    main()
