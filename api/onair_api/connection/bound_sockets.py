"""Sockets that a replica listens on: of one address, or of all that its pod has, IPv4 and IPv6."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

EVERYWHERE = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}  # noqa: S104 - a pod's addresses come as it runs
ATTEMPTS = 5
"""At a port that is free of both families."""


def bound_sockets(host: str | None, port: int) -> list[socket.socket]:
    """Binds a port of an address, or of all addresses; the sockets do not listen yet.

    Args:
        host: IPv4 or IPv6; None: all of both, if the kernel has IPv6.
        port: 0 takes a free one, the same of both.

    Raises:
        OSError: it is not to be had.
    """
    hosts = EVERYWHERE if host is None else {_family(host): host}
    for _ in range(ATTEMPTS if port == 0 else 1):
        try:
            return _bound(hosts, port)
        except OSError as error:
            failure = error
            if error.errno != errno.EADDRINUSE:
                break
    raise failure


def _bound(hosts: dict[socket.AddressFamily, str], port: int) -> list[socket.socket]:
    with ExitStack() as stack:
        bound: list[socket.socket] = []
        for family, each in hosts.items():
            try:
                made = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            except OSError as error:
                if not bound or error.errno != errno.EAFNOSUPPORT:
                    raise
                continue  # the kernel has no IPv6
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.bind((each, bound[0].getsockname()[1] if bound else port))
            bound.append(made)
        stack.pop_all()
        return bound


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
