"""A binding of what is used of libsrt 1.5 (srt.h), by ctypes. Imports little: a sender is to stay small."""

from __future__ import annotations

import ctypes
import socket
import struct
from typing import Any

LIBRARIES = ("libsrt-gnutls.so.1.5", "libsrt-openssl.so.1.5", "libsrt.so.1.5")
PAYLOAD_BYTES = 1316
"""Seven transport packets: what one SRT packet of live mode carries."""

PASSPHRASE, PBKEYLEN, LATENCY, PEERLATENCY, CONNTIMEO, STREAMID = 26, 27, 23, 44, 36, 46
SENDER, LINGER, MAXBW, PEERIDLETIMEO, ENFORCEDENCRYPTION = 21, 7, 16, 55, 53

CONNECTED = 5
"""SRTS_CONNECTED; greater states mean that the session is over."""
_CRITICAL = 2
BUFFER_PACKETS = 8192
"""libsrt's default: `send` waits while so many are pending."""
_DROPS, _DROPPED_BYTES, _RTT, _PENDING, _PENDING_MS = 64, 112, 328, 364, 372
"""Offsets in CBytePerfMon of pktSndDropTotal, byteSndDropTotal, msRTT, pktSndBuf, msSndBuf."""
_HEADER_BYTES = 44
"""Of IP, UDP and SRT: what libsrt adds to the bytes of a packet that it counts."""
_STATISTICS_BYTES = 1024


class SrtError(Exception):
    """A call of libsrt failed with `error` (SRT_E…); `reject` (SRT_REJ_…) is why a peer refused, or 0."""

    def __init__(self, error: int, reject: int = 0) -> None:
        super().__init__(f"SRT error {error}, reject reason {reject}")
        self.error, self.reject = error, reject


class SendStatistics:
    """State of the packets that were given to a socket."""

    def __init__(self, statistics: bytes) -> None:
        (drops,) = struct.unpack_from("i", statistics, _DROPS)
        (dropped_bytes,) = struct.unpack_from("Q", statistics, _DROPPED_BYTES)
        self.dropped = int(dropped_bytes - drops * _HEADER_BYTES) // PAYLOAD_BYTES
        """Dropped by libsrt, as they came too late to be sent. Several that libsrt 1.5.1 drops at once count
        as one there, but with all of their bytes."""
        (self.rtt_ms,) = struct.unpack_from("d", statistics, _RTT)
        (self.pending,) = struct.unpack_from("i", statistics, _PENDING)
        """Not acknowledged yet."""
        (self.pending_ms,) = struct.unpack_from("i", statistics, _PENDING_MS)
        """Time that they span."""


def _load() -> Any:
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise SrtError(-1)


class SrtSocket:
    """One caller. Calls block; `shut` may come from another thread."""

    def __init__(self) -> None:
        self._srt = _load()
        self._srt.srt_startup()
        self._srt.srt_setloglevel(_CRITICAL)
        self._socket = self._srt.srt_create_socket()

    def set(self, option: int, value: int | str) -> None:
        """Sets a socket option of at most 32 bits, or a text.

        Raises:
            SrtError: libsrt does not take the value.
        """
        data = value.encode() if isinstance(value, str) else struct.pack("i", value)
        self._check(self._srt.srt_setsockflag(self._socket, option, data, len(data)))

    def set_bandwidth(self, bytes_per_s: int) -> None:
        data = struct.pack("q", bytes_per_s)
        self._check(self._srt.srt_setsockflag(self._socket, MAXBW, data, len(data)))

    def connect(self, family: int, host: str, port: int) -> None:
        """Connects to a server.

        Raises:
            SrtError: with the reason of the refusal.
        """
        address = _socket_address(family, host, port)
        if self._srt.srt_connect(self._socket, address, len(address)) < 0:
            raise SrtError(self._srt.srt_getlasterror(None), self._srt.srt_getrejectreason(self._socket))

    @property
    def peer_latency_ms(self) -> int:
        """The time from sending to playing, as agreed with the peer.

        Raises:
            SrtError: libsrt does not say it.
        """
        value, size = ctypes.c_int(), ctypes.c_int(4)
        pointers = ctypes.byref(value), ctypes.byref(size)
        self._check(self._srt.srt_getsockflag(self._socket, PEERLATENCY, *pointers))
        return value.value

    def send(self, payload: bytes) -> None:
        """Hands over one packet; waits while libsrt's buffer is full.

        Raises:
            SrtError: the session is over.
        """
        self._check(self._srt.srt_sendmsg2(self._socket, payload, len(payload), None))

    @property
    def over(self) -> bool:
        """The peer ended the session, or sent nothing for too long."""
        return bool(self._srt.srt_getsockstate(self._socket) > CONNECTED)

    def progress(self) -> SendStatistics | None:
        """Reads the statistics of the session; None when it is over."""
        statistics = ctypes.create_string_buffer(_STATISTICS_BYTES)
        if self._srt.srt_bistats(self._socket, statistics, 0, 1) < 0:
            return None
        return SendStatistics(statistics.raw)

    def shut(self) -> None:
        """Ends the session at the peer too."""
        self._srt.srt_close(self._socket)

    def _check(self, result: int) -> None:
        if result < 0:
            raise SrtError(self._srt.srt_getlasterror(None))


def _socket_address(family: int, host: str, port: int) -> bytes:
    """A sockaddr_in or sockaddr_in6."""
    if family == socket.AF_INET6:
        return struct.pack("=HHI16sI", family, socket.htons(port), 0, socket.inet_pton(family, host), 0)
    return struct.pack("=HH4s8x", family, socket.htons(port), socket.inet_pton(family, host))
