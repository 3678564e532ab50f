"""How the connection of a source or a destination goes, as HTTP and events say it. Pure."""

from __future__ import annotations

from onair_crds.resources.enums import ConnectState
from onair_crds.shapes import JsonObject

FIELDS = ("connect", "since", "lastError")
"""Of the record; no request sets them."""


def connection(status: JsonObject) -> JsonObject:
    """The fields of a record that say how the connection goes."""
    told = {name: status[name] for name in FIELDS[1:] if status.get(name)}
    return {"connect": connect_state(status).wire, **told}


def connect_state(status: JsonObject) -> ConnectState:
    """Whether media flows to a destination, or from a source; what never was connected is disconnected."""
    value = status.get("connect")
    return next((state for state in ConnectState if state.value == value), ConnectState.DISCONNECTED)
