"""Sockets that a replica listens on: of one address, or of all that its pod has, IPv4 and IPv6."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

WILDCARDS = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}  # noqa: S104 - a pod's addresses come as it runs


def bound_sockets(host: str | None, port: int) -> list[socket.socket]:
    """Binds a port of an address, or of all addresses; the sockets do not listen yet.

    Args:
        host: IPv4 or IPv6; None: all of both, if the kernel has IPv6.
        port: the same of both; 0 takes one that is free of the first.

    Raises:
        OSError: it is not to be had.
    """
    hosts = WILDCARDS if host is None else {_family(host): host}
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
