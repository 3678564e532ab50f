"""Which address of a listener's name a sender takes, and what it does where acknowledgements are overdue."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_encoder.publish.srt import libsrt, sender_process
from onair_encoder.publish.srt.libsrt import SendStatistics, SrtError
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
        self.peer_latency_ms = 2500

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


class LossySocket(Sockets):
    """Its last packet is lost, and acknowledged once another one has come after it."""

    over = False

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, pending: int, rtt_ms: float = 1.0) -> None:
        super().__init__({})
        self.pending, self.rtt_ms = pending, rtt_ms
        self.sent: list[tuple[float, bytes]] = []
        self.now = 1000.0
        self.look_s = 0.01
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=lambda _: None)
        monkeypatch.setattr(sender_process, "SrtSocket", self)
        monkeypatch.setattr(sender_process, "time", clock)

    def send(self, data: bytes) -> None:
        self.sent.append((round(self.now - 1000, 3), data))

    def progress(self) -> SimpleNamespace:
        self.now += self.look_s
        if self.sent and self.now - 1000 - self.sent[0][0] > self.rtt_ms / 1000:
            self.pending = 0
        return SimpleNamespace(pending=self.pending, pending_ms=0, dropped=0, rtt_ms=self.rtt_ms)

    def look(self, monkeypatch: pytest.MonkeyPatch, for_s: float) -> list[dict[str, Any]]:
        """What a sender reports that waits for the last acknowledgements."""
        reports: list[dict[str, Any]] = []
        monkeypatch.setattr(sender_process, "report", lambda **report: reports.append(report))
        sender = sender_process.SrtSender(io.BufferedReader(io.BytesIO(b"{}")))
        sender._accepted = 50
        sender._report(for_s, 0.01, to_the_last=True)
        return reports


def test_where_nothing_follows_a_packet_that_was_lost_a_null_packet_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lossy = LossySocket(monkeypatch, pending=2)
    reports = lossy.look(monkeypatch, 1.0)
    ((at_s, packet),) = lossy.sent
    assert 0.1 < at_s < 0.15
    assert (packet[:4], len(packet)) == (b"\x47\x1f\xff\x10", 188)
    assert [report["acked"] for report in reports] == [48, 50], "it counts as no packet of the programme"


def test_one_null_packet_at_a_time_however_long_the_round_trip(monkeypatch: pytest.MonkeyPatch) -> None:
    lossy = LossySocket(monkeypatch, pending=2, rtt_ms=400.0)
    lossy.look(monkeypatch, 3.0)
    assert [round(at_s, 1) for at_s, _ in lossy.sent] == [0.8]


def test_null_packets_do_not_wait_for_room_in_a_full_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that reports would wait with them."""
    lossy = LossySocket(monkeypatch, pending=libsrt.BUFFER_PACKETS)
    lossy.look(monkeypatch, 1.0)
    assert lossy.sent == []


def test_while_media_follow_there_is_no_null_packet(monkeypatch: pytest.MonkeyPatch) -> None:
    lossy = LossySocket(monkeypatch, pending=2)
    sender = sender_process.SrtSender(io.BufferedReader(io.BytesIO(b"{}")))
    for accepted in range(100):
        sender._ask(accepted, cast(SendStatistics, lossy.progress()))
    assert lossy.sent == []


def test_the_agreed_latency_is_reported_with_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets, reports = Sockets({}), list[dict[str, Any]]()

    def report(**values: Any) -> None:
        reports.append(values)
        raise BrokenPipeError

    monkeypatch.setattr(sender_process, "SrtSocket", sockets)
    monkeypatch.setattr(sender_process, "report", report)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    line = json.dumps({**SETTINGS, "addresses": [(socket.AF_INET, V4, 9000)]}).encode() + b"\n"
    sender = sender_process.SrtSender(io.BufferedReader(io.BytesIO(line)))
    sender._connect()
    with pytest.raises(BrokenPipeError):
        sender._send()
    assert reports == [{"connected": True, "latency_ms": 2500}]
