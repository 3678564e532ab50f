"""A destination as HTTP shows it: with its secrets only to hosts and co-hosts."""

from __future__ import annotations

from onair_api.live.connection_record import connection
from onair_api.live.destination import passphrase
from onair_api.wire.encode import encode_message
from onair_api.wire.message import Message, WireField, message_of
from onair_api.writes.credential_secrets import Credentials
from onair_crds.kube.store import Entry
from onair_crds.resources.destination import DestinationSpec
from onair_crds.shapes import JsonObject

DESTINATION_MESSAGE = message_of(DestinationSpec).only("metadata", "address", "enabled", "timeout")


def _address() -> Message:
    address = DESTINATION_MESSAGE.fields["address"].message
    if address is None:
        raise TypeError("a destination's address is an object")
    return address


ADDRESS = _address()


def members(address: JsonObject) -> list[tuple[WireField, Message, JsonObject]]:
    """The members of an address that are given: field, what it consists of, its part of the resource."""
    return [
        (field, field.message, part)
        for field in ADDRESS.fields.values()
        if field.message and isinstance(part := address.get(field.name), dict)
    ]


def public_destination(entry: Entry, collection_id: str) -> JsonObject:
    """The record without secrets."""
    record: JsonObject | None = entry.records.get(collection_id)
    if record is None:
        written = encode_message(DESTINATION_MESSAGE, entry.spec)
        record = entry.records[collection_id] = {
            "collectionId": collection_id,
            "projectId": entry.spec.get("projectId"),
            "destinationId": entry.name,
            **written,
            **connection(entry.status),
        }
    return record


async def destination_record(
    entry: Entry, collection_id: str, credentials: Credentials, *, secrets: bool
) -> JsonObject:
    """The record of one destination; `secrets` adds what its references hold."""
    record = public_destination(entry, collection_id)
    if not secrets:
        return record
    address = record["address"]
    for field, message, part in members(entry.spec.get("address") or {}):
        values = await credentials.values(message, part, entry)
        reference = part.get(passphrase.REFERENCE)
        if isinstance(reference, dict) and (phrase := await credentials.value(reference, entry)):
            values["url"] = passphrase.with_passphrase(part["url"], phrase)
        if values:
            address = {**address, field.name: {**address[field.name], **values}}
    return {**record, "address": address}
