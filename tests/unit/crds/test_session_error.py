"""Errors of the network in words."""

from __future__ import annotations

import socket
import ssl

import pytest

from onair_crds.session_error import network_error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(), "connection refused by a.example:1935"),
        (socket.gaierror(-2, "x"), "a.example: name not found"),
        (ConnectionResetError(), "connection reset by a.example:1935"),
        (TimeoutError(), "no response from a.example:1935"),
        (ssl.SSLError(1, "x"), "a.example:1935: TLS failed: handshake refused"),
        (ssl.SSLEOFError(8, "x"), "a.example:1935: TLS was cut off"),
        (socket.gaierror(-3, "x"), "a.example: the name server does not respond"),
        (OSError(101, "Network is unreachable"), "a.example:1935: Network is unreachable"),
    ],
)
def test_errors_become_words(error: Exception, words: str) -> None:
    assert words in str(network_error(error, "a.example", "a.example:1935"))
