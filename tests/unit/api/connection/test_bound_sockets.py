"""Tests on which addresses a replica listens."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.support.ipv6 import has_ipv6

from onair_api.connection.bound_sockets import bound_sockets

NEEDS_IPV6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def reached(port: int, *hosts: str) -> list[str]:
    """Those of these addresses at which somebody listens."""
    found = []
    for host in hosts:
        with suppress(OSError), socket.create_connection((host, port), 2):
            found.append(host)
    return found


@pytest.fixture
def bound() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def listening(stack: ExitStack, host: str | None, port: int = 0) -> list[socket.socket]:
    sockets = bound_sockets(host, port)
    for each in sockets:
        stack.enter_context(each).listen()
    return sockets


@NEEDS_IPV6
def test_without_a_host_it_is_all_addresses_of_both_families_at_one_port(bound: ExitStack) -> None:
    sockets = listening(bound, None)
    (port,) = {each.getsockname()[1] for each in sockets}
    assert [each.family for each in sockets] == [socket.AF_INET, socket.AF_INET6]
    assert reached(port, "127.0.0.1", "127.0.0.2", "::1") == ["127.0.0.1", "127.0.0.2", "::1"]


@NEEDS_IPV6
@pytest.mark.parametrize(("host", "other"), [("127.0.0.1", "::1"), ("::1", "127.0.0.1")])
def test_with_a_host_it_is_that_alone(bound: ExitStack, host: str, other: str) -> None:
    port = listening(bound, host)[0].getsockname()[1]
    assert reached(port, host, other) == [host]


def refuse_ipv6(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Has no socket of IPv6 made, for this reason."""
    made = socket.socket

    def make(family: int, kind: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(number, os.strerror(number))
        return made(family, kind)

    monkeypatch.setattr(socket, "socket", make)


def test_without_ipv6_in_the_kernel_it_is_ipv4_alone(
    bound: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_ipv6(monkeypatch, errno.EAFNOSUPPORT)
    assert [each.family for each in listening(bound, None)] == [socket.AF_INET]


def test_without_ipv6_for_another_reason_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_ipv6(monkeypatch, errno.EMFILE)
    with pytest.raises(OSError, match="Too many"):
        bound_sockets(None, 0)


def open_files() -> set[str]:
    return {each.name for each in Path("/proc/self/fd").iterdir()}


@NEEDS_IPV6
def test_a_port_that_one_family_has_taken_is_refused_and_no_socket_of_the_other_is_left(
    bound: ExitStack,
) -> None:
    taken = listening(bound, "::1")[0].getsockname()[1]
    before = open_files()
    with pytest.raises(OSError, match="in use"):
        bound_sockets(None, taken)
    assert open_files() == before
