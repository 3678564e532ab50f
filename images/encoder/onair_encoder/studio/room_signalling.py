"""Where signalling of the project's room goes while the facade is away: to the room server itself. Pure."""

from __future__ import annotations

from urllib.parse import quote, unquote_plus

from yarl import URL

from onair_crds.contract.program import ProgramRoomServer
from onair_crds.contract.rooms import SIGNAL_PATH

_PATHS = frozenset({f"{SIGNAL_PATH}/rtc", f"{SIGNAL_PATH}/rtc/v1"})
_TOKEN = "access_token"  # noqa: S105 - the name of a field
_REPLACED = frozenset({_TOKEN, "publish"})
"""`publish` would join under another identity than the token's."""


def signalling_url(server: ProgramRoomServer, target: str) -> URL | None:
    """The address that takes a WebSocket of signalling, with the agent's token in the place of the page's.

    Args:
        target: path and query at the facade.

    Returns:
        None for what is not signalling.
    """
    path, _, query = target.partition("?")
    if path not in _PATHS:
        return None
    kept = [
        field
        for field in query.split("&")
        if field and unquote_plus(field.partition("=")[0]) not in _REPLACED
    ]
    fields = [*kept, f"{_TOKEN}={quote(server.token.get_secret_value(), safe='')}"]
    return URL(f"{server.url.rstrip('/')}{path.removeprefix(SIGNAL_PATH)}?{'&'.join(fields)}", encoded=True)
