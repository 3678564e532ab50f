"""Which address of a listener's name a sender takes."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from onair_encoder.publish.srt import libsrt, sender_process
from onair_encoder.publish.srt.libsrt import SrtError
from onair_encoder.publish.srt.refusals import NO_SERVER

V6, V4 = "2001:db8::1", "192.0.2.1"
SETTINGS = {
    "streamid": "s",
    "latency": 120,
    "pbkeylen": 16,
    "passphrase": "",
}


class Sockets:
    """Stands in for libsrt's sockets: one connects to an address, or fails as a test says."""

    def __init__(self, failures: dict[str, SrtError]) -> None:
        self.failures = failures
        self.tried: list[str] = []
        self.timeouts_ms: list[object] = []
        self.open = 0

    def __call__(self) -> Sockets:
        self.open += 1
        return self

    def set(self, option: int, value: object) -> None:
        if option == libsrt.CONNTIMEO:
            self.timeouts_ms.append(value)

    def set_bandwidth(self, _: int) -> None:
        return

    def connect(self, _: int, host: str, port: int) -> None:
        self.tried.append(host)
        if error := self.failures.get(host):
            raise error

    def shut(self) -> None:
        self.open -= 1


class ProcessEnded(Exception):
    """In place of the process' end."""


def connect(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str], failures: dict[str, SrtError]
) -> tuple[Sockets, list[dict[str, Any]]]:
    """What a sender of a name with these addresses tries, and what it reports."""
    sockets = Sockets(failures)
    reports: list[dict[str, Any]] = []

    def end(code: int = 0) -> None:
        raise ProcessEnded(code)

    found = [(socket.AF_INET, each, 9000) for each in addresses]
    monkeypatch.setattr(sender_process, "SrtSocket", sockets)
    monkeypatch.setattr(sender_process, "report", lambda **report: reports.append(report))
    monkeypatch.setattr(sender_process, "end", end)
    line = json.dumps({**SETTINGS, "addresses": found}).encode() + b"\n"
    with contextlib.suppress(ProcessEnded):
        sender_process.SrtSender(io.BufferedReader(io.BytesIO(line)))._connect()
    return sockets, reports


SILENT, REFUSED = SrtError(NO_SERVER, 16), SrtError(1002, 1401)


def test_where_one_address_is_silent_the_next_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets, reports = connect(monkeypatch, [V6, V4], {V6: SILENT})
    assert (sockets.tried, reports) == ([V6, V4], [])
    assert sockets.timeouts_ms == [4500, 4500], "both fit in the time that the agent waits"
    assert sockets.open == 1


def test_a_refusal_is_one_whatever_other_addresses_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets, reports = connect(monkeypatch, [V6, V4], {V6: REFUSED})
    assert sockets.tried == [V6]
    assert reports == [{"rejected": 1401, "error": 1002}]


def test_where_all_are_silent_the_last_one_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [V6, V4, "192.0.2.2", "192.0.2.3"]
    sockets, reports = connect(monkeypatch, addresses, dict.fromkeys(addresses, SILENT))
    assert sockets.tried == addresses[:3]
    assert sum(int(str(each)) for each in sockets.timeouts_ms) <= 9000
    assert reports == [{"rejected": 16, "error": NO_SERVER}]


def test_a_single_address_has_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets, _ = connect(monkeypatch, [V4], {})
    assert sockets.timeouts_ms == [5000]


class SlowSocket(Sockets):
    """Connects, and has something under way for two reports."""

    over = False

    def __init__(self) -> None:
        super().__init__({})
        self.sent: list[bytes] = []
        self.pending = 2

    def send(self, data: bytes) -> None:
        self.sent.append(data)

    def progress(self) -> SimpleNamespace:
        self.pending = max(0, self.pending - 1)
        return SimpleNamespace(pending=self.pending, pending_ms=self.pending, dropped=0, rtt_ms=1.0)


@pytest.mark.parametrize("ends", ["as it connects", "while it sends"])
def test_a_session_is_closed_where_the_agent_has_been_killed(
    ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pipes of a process that is gone break, and bring no more media."""
    sockets, reported = SlowSocket(), 0

    def report(**_: object) -> None:
        nonlocal reported
        reported += 1
        if ends == "as it connects" or reported > 1:
            raise BrokenPipeError

    def end(code: int = 0) -> None:
        raise ProcessEnded(code)

    monkeypatch.setattr(sender_process, "SrtSocket", sockets)
    monkeypatch.setattr(sender_process, "report", report)
    monkeypatch.setattr(sender_process, "end", end)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sender_process, "DRAIN_S", 0.2 if ends == "as it connects" else 30.0)
    line = json.dumps({**SETTINGS, "addresses": [(socket.AF_INET, V4, 9000)], "report_s": 0.1}).encode()
    media = b"\x47" * libsrt.PAYLOAD_BYTES
    with pytest.raises(ProcessEnded):
        sender_process.SrtSender(io.BufferedReader(io.BytesIO(line + b"\n" + media))).run()
    assert sockets.open == 0
    if ends == "while it sends":
        assert (sockets.sent, sockets.pending) == ([media], 0), "what was under way arrives"
