"""What waits for a client, be the connection open or closed."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from onair_api.connection.http_connection import unread_bytes


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


def test_of_a_closed_connection_nothing_is_unread(transport: Any) -> None:
    transport.theirs.close()
    transport.ours.close()
    assert unread_bytes(transport) == 0
