"""Hides fields from guests who only watch or talk: addresses that may hold a key in path or query. Pure.

Guests who only watch or talk see which kind of destination and composition a project has, and not where.
"""

from __future__ import annotations

from onair_crds.shapes import JsonObject

SERVERS = frozenset({"url", "endpoint"})
PAGES = frozenset({"url", "rendererUrl"})


def destination_without_address(record: JsonObject) -> JsonObject:
    """A copy of a destination's record that names no server; an error names one, too."""
    return {**_without_error(record), "address": _without(record["address"], SERVERS)}


def project_without_addresses(record: JsonObject) -> JsonObject:
    """A copy of a project's record that names no page, and no server of a destination or a source."""
    return {
        **record,
        "composition": _without(record["composition"], PAGES),
        "destinations": [destination_without_address(each) for each in record["destinations"]],
        "sources": [_without_error(each) for each in record["sources"]],
    }


def payload_without_addresses(payload: JsonObject) -> JsonObject:
    """A copy of a live event's payload without addresses; the payload itself where it has none."""
    ((kind, change),) = payload.items()
    ((sub_type, record),) = change.items()
    if kind == "project" and "message" in record:
        return {kind: {sub_type: {name: value for name, value in record.items() if name != "message"}}}
    hide = HIDE.get(kind)
    if hide is None or kind not in record:
        return payload
    return {kind: {sub_type: {**record, kind: hide(record[kind])}}}


def _without_error(record: JsonObject) -> JsonObject:
    return {name: value for name, value in record.items() if name != "lastError"}


HIDE = {
    "destination": destination_without_address,
    "project": project_without_addresses,
    "source": _without_error,
}
"""By kind of a record: what hides its addresses."""


def _without(select_one: JsonObject, names: frozenset[str]) -> JsonObject:
    return {
        member: {name: value for name, value in part.items() if name not in names}
        for member, part in select_one.items()
    }
