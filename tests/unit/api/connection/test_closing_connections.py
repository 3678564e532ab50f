"""Which closed connections are cut: those that do not get on."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.connection import closing_connections
from onair_api.connection.closing_connections import ClosingConnections
from onair_api.connection.http_connection import UNREAD_TIMEOUT_S


class LeavingConnection:
    """A connection, which is its own transport, with bytes that its peer has not taken."""

    def __init__(self, unread: int, *, is_closing: bool = True) -> None:
        self.transport: Any = self
        self.unread = unread
        self._closing = is_closing
        self.is_cut = False

    def is_closing(self) -> bool:
        return self._closing

    def abort(self) -> None:
        self.is_cut = True


def test_who_takes_nothing_from_look_to_look_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing_connections, "unread_bytes", lambda transport: transport.unread)
    stuck, slow, there = LeavingConnection(7), LeavingConnection(7), LeavingConnection(7, is_closing=False)
    closing = ClosingConnections({stuck, slow, there})
    closing.look(0.0)
    closing.look(UNREAD_TIMEOUT_S / 2)
    assert not stuck.is_cut, "it has not had its time"
    for at in (1, 2, 3):
        slow.unread -= 1
        closing.look(at * UNREAD_TIMEOUT_S)
    assert (stuck.is_cut, slow.is_cut, there.is_cut) == (True, False, False)
