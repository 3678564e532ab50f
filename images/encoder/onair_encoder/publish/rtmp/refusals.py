"""What a server's words mean: why it refused a stream, or ended it (Adobe RTMP 1.0, section 7.2). Pure."""

from __future__ import annotations

from urllib.parse import parse_qsl

from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.session_error import SessionError

MAX_REASON = 200
"""Characters of a server's own text that are passed on."""
_ENDED = ("NetStream.Unpublish.Success", "NetConnection.Connect.Closed", "NetStream.Publish.Stop")
_OF_OTHERS = ("NetStream.Record.", "NetStream.Play.", "NetStream.Seek.")
"""A server's recording and its viewers: the publishing continues, whatever becomes of them."""


def refusal(address: RtmpAddress, info: object) -> SessionError:
    """The error for an `_error` of the server; its information object may be anything."""
    status = info if isinstance(info, dict) else {}
    return ended_by(address, status) or SessionError(
        f"{address.server} refused: {_reason(address, info)}", explained=True
    )


def ended_by(address: RtmpAddress, status: dict[str, object]) -> SessionError | None:
    """The error for the information object of an `onStatus`; None if the stream continues."""
    server, code = address.server, str(status.get("code", ""))
    match code:
        case "NetStream.Publish.BadName":
            return SessionError(f"{server} refuses the stream key, or it is in use", explained=True)
        case "NetStream.Publish.Denied" | "NetStream.Publish.BadAuth":
            return SessionError(f"{server} refuses the stream key", permanent=True, explained=True)
        case _ if code in _ENDED:
            return SessionError(f"{server}: the server ended the stream")
        case _ if code.startswith(_OF_OTHERS):
            return None
        case _ if status.get("level") == "error" or code.endswith((".Failed", ".Rejected")):
            return SessionError(f"{server} refused: {_reason(address, status)}", explained=True)
    return None


def _reason(address: RtmpAddress, info: object) -> str:
    """The server's text, without what it may repeat of the key."""
    if isinstance(info, dict):
        info = info.get("description") or info.get("code")
    text = info if isinstance(info, str) and info else "no reason given"
    name, _, query = address.key.partition("?")
    secrets = {address.key, name, query, *(value for _, value in parse_qsl(query))}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "…") if secret else text
    return "".join(each if each.isprintable() else " " for each in text)[:MAX_REASON]
