"""What waits for a client, be the connection open or closed."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_api.connection import http_connection
from onair_api.connection.http_connection import UnreadWatch, unread_bytes


class Transport:
    """Over one end of a pair of sockets."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()

    def get_extra_info(self, _: str) -> socket.socket:
        return self.ours

    def get_write_buffer_size(self) -> int:
        return 3


@pytest.fixture
def transport() -> Any:
    return Transport()


def test_what_the_clients_system_has_not_taken_is_unread(transport: Any) -> None:
    transport.ours.send(bytes(1000))
    assert unread_bytes(transport) > 1000
    transport.theirs.close()
    transport.ours.close()


async def test_who_takes_nothing_for_a_while_is_cut_and_a_slow_reader_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waiting, cut = iter([3, 2, 1, 1]), asyncio.Event()
    monkeypatch.setattr(http_connection, "UNREAD_TIMEOUT_S", 0)
    monkeypatch.setattr(http_connection, "unread_bytes", lambda _: next(waiting))
    UnreadWatch(cast(asyncio.Transport, SimpleNamespace(abort=cut.set))).start()
    await cut.wait()
    assert next(waiting, None) is None


def test_of_a_closed_connection_nothing_is_unread(transport: Any) -> None:
    transport.theirs.close()
    transport.ours.close()
    assert unread_bytes(transport) == 0
