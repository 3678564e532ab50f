"""What an agent and its SRT sender say to each other, in lines of JSON. Imports next to nothing."""

from __future__ import annotations

from typing import TypedDict


class SenderSettings(TypedDict):
    """The first line to the sender."""

    addresses: list[tuple[int, str, int]]
    """Family, host and port of each; the sender resolves nothing."""
    streamid: str | None
    latency: int
    """Milliseconds, as libsrt takes it."""
    pbkeylen: int
    passphrase: str | None
    report_s: float
    """From one report to the next."""


class SenderReport(TypedDict, total=False):
    """A line of the sender: a connection, a rejection, progress or the end."""

    connected: bool
    latency_ms: int
    """As agreed with the peer; comes with `connected`."""
    rejected: int
    """libsrt's reason."""
    error: int
    over: bool
    acked: int
    """Packets, as are the next three."""
    settled: int
    """Acknowledged or dropped: nothing is expected of them any more."""
    accepted: int
    dropped: int
    pending_ms: int
    rtt_ms: float
