"""LiveKit's errors in words, without the token."""

from __future__ import annotations

import pytest

from onair_crds.room_publisher.livekit_errors import connect_failed, disconnected

URL = "wss://rooms.example"


@pytest.mark.parametrize(
    ("said", "words", "permanent"),
    [
        (
            "client error: 401 Unauthorized - invalid token: eyJhbGci.eyJpc3.5cb, error in primitive",
            "rooms.example:443: the room token was refused; the installation names another API secret",
            True,
        ),
        ("401 - validation failed, token is expired (exp)", "the room token has expired", True),
        ("401 Unauthorized - invalid API key: nokey", "the provider does not know the API key", True),
        ("404 Not Found - requested room does not exist", "there is no such room", False),
        ("handshake error: 500 Internal Server Error", "(500); the room may be full", False),
        (
            "IO error: Connection refused (os error 111)",
            "connection refused by rooms.example:443",
            False,
        ),
        ("IO error: failed to lookup address information", "rooms.example: name not found", False),
        ("received corrupt message of type InvalidContentType", "rooms.example:443: TLS failed", False),
        ("signal failure: transport timed out", "no response from rooms.example:443", False),
        ("something new eyJhbGci", "rooms.example:443: the room could not be joined", False),
    ],
)
def test_errors_of_joining_become_words_without_the_token(said: str, words: str, permanent: bool) -> None:
    lost = connect_failed(said, URL)
    assert words in str(lost)
    assert lost.permanent is permanent
    assert "eyJ" not in str(lost)


def test_reasons_for_an_end_become_words() -> None:
    taken = disconnected("DUPLICATE_IDENTITY", URL, "programme")
    assert (str(taken), taken.displaced) == (
        "rooms.example:443: somebody else has joined the room as programme",
        True,
    )
    assert str(disconnected("SERVER_SHUTDOWN", URL, "x")) == "rooms.example:443: the server is shutting down"
    assert str(disconnected("NEVER_SEEN", URL, "x")) == "rooms.example:443: the session ended"
