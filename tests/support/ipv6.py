"""Whether this machine has IPv6: some containers have it switched off."""

import socket
from contextlib import suppress


def has_ipv6() -> bool:
    """Whether there is the loopback address of IPv6."""
    with suppress(OSError), socket.socket(socket.AF_INET6) as tried:
        tried.bind(("::1", 0))
        return True
    return False
