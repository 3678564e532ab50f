"""A live source as HTTP shows it: stream key and addresses only to hosts and co-hosts."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from onair_api.live.connection_record import connection
from onair_api.live.source.stream_keys import StreamKeys
from onair_api.wire.encode import encode_message
from onair_api.wire.message import message_of
from onair_crds.contract.ingest import AssignedPush, Ingest, assigned_push
from onair_crds.kube.store import Entry
from onair_crds.resources.source import SourceAddress, SourceSpec
from onair_crds.shapes import JsonObject

SOURCE_MESSAGE = message_of(SourceSpec).only("metadata", "address", "preview")


def _arrives(status: JsonObject) -> JsonObject:
    """Fields of the record that say what arrives, and whether it comes by a key that has been replaced."""
    media = {name: value for name, value in (status.get("media") or {}).items() if name in ("video", "audio")}
    found: JsonObject = {"media": media} if media else {}
    return found | ({"replacedKey": True} if status.get("replacedKey") else {})


class SourceRecords:
    def __init__(self, keys: StreamKeys, ingest: Callable[[], Ingest]) -> None:
        """`ingest` gives the addresses of the moment, the same object as long as they are the same."""
        self._keys = keys
        self._ingest = ingest

    def public(self, entry: Entry) -> JsonObject:
        """The record without secrets, which is what events carry."""
        ingest = self._ingest()
        known: tuple[Ingest, JsonObject] | None = entry.records.get("wire")
        if known is None or known[0] is not ingest:
            known = entry.records["wire"] = (ingest, self._public(entry, ingest))
        return known[1]

    async def record(self, entry: Entry, *, secrets: bool) -> JsonObject:
        """The record of one source; `secrets` adds key or stream id, and the url."""
        record = self.public(entry)
        if not secrets:
            return record
        given = entry.spec.get("address") or {}
        address = record["address"]
        if pull := given.get("rtmpPull"):
            address = {**address, "rtmpPull": {**address["rtmpPull"], "url": pull["url"]}}
        for member, name in (("rtmpPush", "key"), ("srtPush", "streamId")):
            if member in address and (
                assigned := _assigned(entry, await self._keys.of(entry), self._ingest())
            ):
                secret = {name: assigned.stream, "url": assigned.url}
                shown = {k: v for k, v in secret.items() if v is not None}
                address = {**address, member: {**address[member], **shown}}
        return {**record, "address": address}

    def _public(self, entry: Entry, ingest: Ingest) -> JsonObject:
        written = encode_message(SOURCE_MESSAGE, entry.spec)
        address = written.setdefault("address", {})
        address.get("rtmpPull", {}).pop("url", None)
        if assigned := _assigned(entry, None, ingest):
            for member in ("rtmpPush", "srtPush"):
                if member in address:
                    address[member] |= _reached_at(assigned)
        if webrtc := written.get("preview", {}).get("webrtc"):
            webrtc["participantId"] = entry.name
        return {
            "collectionId": entry.spec.get("collectionId"),
            "sourceId": entry.name,
            **written,
            **connection(entry.status),
            **_arrives(entry.status),
        }


def _assigned(entry: Entry, stream_key: str | None, ingest: Ingest) -> AssignedPush | None:
    try:
        address = SourceAddress.model_validate(entry.spec.get("address"))
    except ValidationError:  # a newer version stored it: show the rest
        return None
    return assigned_push(address, stream_key, ingest)


def _reached_at(assigned: AssignedPush) -> JsonObject:
    """Fields of the record that say where to push to; none while no address is known."""
    found: JsonObject = {"baseUrl": assigned.base_url} if assigned.base_url else {}
    if assigned.endpoints:
        shown = (each.model_dump(by_alias=True) for each in assigned.endpoints)
        found["endpoints"] = [{name: value for name, value in each.items() if value} for each in shown]
    return found
