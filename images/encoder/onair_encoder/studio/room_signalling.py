"""Where signalling of the project's room goes while the facade is unavailable: to the room server. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from yarl import URL

from onair_crds.contract.program import ProgramRoomServer
from onair_crds.contract.rooms import SIGNAL_PATH

_PATHS = frozenset({f"{SIGNAL_PATH}/rtc", f"{SIGNAL_PATH}/rtc/v1"})
_OF_THE_PAGE = frozenset({"access_token", "publish"})
"""Who joins: the token of the page, and what would join under another identity than a token's."""
_REFRESH_TOKEN = bytes((16 << 3 & 0x7F | 2 | 0x80, 16 >> 4))
"""Field 16, with a length."""
_RENEWAL = re.compile(r'\s*\{\s*"refresh(Token|_token)"')
"""The same as JSON."""


@dataclass(frozen=True)
class DirectSignalling:
    url: URL
    """Takes a WebSocket of signalling."""
    headers: dict[str, str]


def renews_token(message: str | bytes) -> bool:
    """Whether a message of the room server brings a new token, which would be the page's.

    It is alone in its `SignalResponse` of LiveKit's protocol, field 16.
    """
    if isinstance(message, bytes):
        return message.startswith(_REFRESH_TOKEN)
    return _RENEWAL.match(message) is not None


def room_signalling(server: ProgramRoomServer, target: str) -> DirectSignalling | None:
    """The request for what a page asks of the facade, with the agent's token in the place of the page's.

    Args:
        target: path and query at the facade.

    Returns:
        None for what is not signalling.
    """
    path, _, query = target.partition("?")
    if path not in _PATHS:
        return None
    fields = (field for field in query.split("&") if field)
    kept = "&".join(each for each in fields if unquote_plus(each.partition("=")[0]) not in _OF_THE_PAGE)
    url = f"{server.url.rstrip('/')}{path.removeprefix(SIGNAL_PATH)}{'?' if kept else ''}{kept}"
    # In no query: that is what servers log
    return DirectSignalling(
        URL(url, encoded=True), {"Authorization": f"Bearer {server.token.get_secret_value()}"}
    )
