"""LiveKit's errors as sentences for producers. Pure; nothing that the library says is repeated."""

from __future__ import annotations

from urllib.parse import urlsplit

from onair_crds.room_publisher.address import server_of
from onair_crds.session_error import SessionError

NO_REASON = "the server admitted nobody (500); the room may be full"
NO_ROOM = "there is no such room"
"""As when a server is back before its rooms have been created again."""
_REFUSALS = [
    (("token is expired",), "the room token has expired"),
    (("invalid api key",), "the provider does not know the API key; the installation names another one"),
    (("500 internal server error",), NO_REASON),
    (("permissions denied",), "the room token does not admit to this room"),
    (("401", "403", "unauthorized"), "the room token was refused; the installation names another API secret"),
    (("404", "room does not exist"), NO_ROOM),
]
_NETWORK = [
    (("connection refused",), "connection refused by {server}"),
    (("lookup address", "name or service", "resolve"), "{host}: name not found"),
    (("certificate", "invalidcontenttype", "tls", "handshake failure"), "{server}: TLS failed"),
    (("reset by peer", "broken pipe"), "connection reset by {server}"),
    (("timed out", "timeout"), "no response from {server}"),
]


def connect_failed(message: str, url: str) -> SessionError:
    """Why the room could not be joined, from what the library says."""
    said, server = message.lower(), server_of(url)
    for marks, words in _REFUSALS:
        if any(mark in said for mark in marks):
            return SessionError(f"{server}: {words}", permanent=words not in (NO_REASON, NO_ROOM))
    for marks, words in _NETWORK:
        if any(mark in said for mark in marks):
            return SessionError(words.format(server=server, host=urlsplit(url).hostname))
    return SessionError(f"{server}: the room could not be joined")


_REASONS = {
    "PARTICIPANT_REMOVED": "was removed from the room",
    "ROOM_DELETED": "the room was deleted",
    "ROOM_CLOSED": "the room was closed",
    "SERVER_SHUTDOWN": "the server is shutting down",
    "JOIN_FAILURE": "the room could not be joined",
    "STATE_MISMATCH": "the server lost the session",
    "SIGNAL_CLOSE": "the connection was closed",
    "CONNECTION_TIMEOUT": "the connection was lost",
    "MEDIA_FAILURE": "no route for the media: UDP and TCP ports of the server are unreachable",
}


def disconnected(reason: str, url: str, identity: str) -> SessionError:
    """Why a session has ended, from LiveKit's name for it."""
    server = server_of(url)
    if reason == "DUPLICATE_IDENTITY":
        return SessionError(f"{server}: somebody else has joined the room as {identity}", displaced=True)
    return SessionError(
        f"{server}: {_REASONS.get(reason, 'the session ended')}", permanent=reason == "PARTICIPANT_REMOVED"
    )
