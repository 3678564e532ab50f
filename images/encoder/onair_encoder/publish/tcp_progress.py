"""How far a TCP connection's peer has come, as the kernel knows it."""

from __future__ import annotations

import fcntl
import socket
import struct
from typing import Protocol

_SIOCOUTQ = 0x5411
_TCP_INFO_BYTES, _TCP_INFO_RTT, _TCP_INFO_ACKED = 128, 68, 120
"""Of Linux' `struct tcp_info`: a length, and the offsets of the round trip and of the bytes acknowledged."""


class Socket(Protocol):
    """What has the file descriptor of a TCP connection."""

    def fileno(self) -> int:
        """The descriptor, or -1 once it is closed."""


def unacknowledged(socket: Socket) -> int:
    """Bytes that the kernel holds, sent or not; none if the connection is closed.

    Raises:
        OSError: it is not known.
    """
    descriptor = socket.fileno()
    if descriptor < 0:
        return 0
    return int(struct.unpack("i", fcntl.ioctl(descriptor, _SIOCOUTQ, b"\0" * 4))[0])


class TcpProgress:
    """Figures of one connection; 0 where they are not known."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    @property
    def unacknowledged(self) -> int:
        """Bytes that the kernel holds."""
        try:
            return unacknowledged(self._socket)
        except OSError:
            return 0

    @property
    def acknowledged(self) -> int:
        """Bytes that the peer's TCP has acknowledged, those of TLS among them."""
        return self._info("Q", _TCP_INFO_ACKED)

    @property
    def round_trip_ms(self) -> float:
        """TCP's smoothed round-trip time."""
        return self._info("I", _TCP_INFO_RTT) / 1000

    def _info(self, form: str, offset: int) -> int:
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
            return int(struct.unpack_from(form, info, offset)[0])
        except (OSError, struct.error):
            return 0
