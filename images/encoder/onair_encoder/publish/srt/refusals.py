"""Why a listener refused a session, as sentences for producers. Pure."""

from __future__ import annotations

from onair_crds.session_error import SessionError

NO_SERVER = 1001
"""SRT_ENOSERVER: nobody responded."""
_TIMEOUT = 16
_APPLICATION = 1000
"""From here on reasons are the application's (access_control.h); from 1400 as those of HTTP."""

_REASONS: dict[int, tuple[str, bool]] = {
    2: (
        "the server refused without a reason; stream id or passphrase may be wrong, or the stream in use",
        False,
    ),
    3: ("the server has no room for another session", False),
    5: ("the server has too many connections waiting", False),
    7: ("the server is closing", False),
    8: ("the server's version of SRT is too old", True),
    10: ("the server refuses the passphrase, or expects none", True),
    11: ("only one of both sides has a passphrase", True),
    12: ("the server expects files, not live media", True),
    13: ("the server expects files, not live media", True),
    14: ("the server expects a packet filter", True),
    15: ("the server expects a group of connections", True),
    1001: ("the server does not understand the stream id", True),
    1003: ("the server does not know the host that the stream id names", True),
    1400: ("the server does not understand the stream id", True),
    1401: ("the server refuses the credentials in the stream id", True),
    1402: ("the server is overloaded", False),
    1403: ("the server refuses the stream id", True),
    1404: ("the server does not know the stream id", True),
    1405: ("the stream id does not permit publishing", True),
    1406: ("the server cannot take such a stream", True),
    1409: ("the stream id is in use", False),
    1415: ("the server does not take such media", True),
    1423: ("the stream id is locked", False),
    1502: ("the server's own upstream refused", False),
    1503: ("the server is down for maintenance", False),
}


def refusal(server: str, error: int, reason: int) -> SessionError:
    """Returns the error of a connect that was refused.

    Args:
        error: SRT_E…, as the connect ended.
        reason: SRT_REJ_… or SRT_REJX_…; 0 where none is known.
    """
    if reason == _TIMEOUT or (error == NO_SERVER and reason == 0):
        return SessionError(f"no response from {server}")
    words, permanent = _REASONS.get(reason, (f"the server refused, reason {reason}", False))
    if reason < _APPLICATION and reason not in _REASONS:
        words = f"no session could be opened (SRT error {error}, reason {reason})"
    return SessionError(f"{server}: {words}", permanent=permanent)
