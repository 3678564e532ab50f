"""How much of what was written to a TCP connection its peer has not acknowledged."""

from __future__ import annotations

import fcntl
import struct
from typing import Protocol

_SIOCOUTQ = 0x5411


class Socket(Protocol):
    def fileno(self) -> int:
        """The descriptor, or -1 once it is closed."""


def unacknowledged(socket: Socket) -> int:
    """Bytes that the system holds, sent or not; none where the connection is closed.

    Raises:
        OSError: it is not known.
    """
    descriptor = socket.fileno()
    if descriptor < 0:
        return 0
    return int(struct.unpack("i", fcntl.ioctl(descriptor, _SIOCOUTQ, b"\0" * 4))[0])
