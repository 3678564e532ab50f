"""A project as HTTP shows it, with its sources, triggers and destinations."""

from __future__ import annotations

from pydantic import ValidationError

from onair_api.auth.guest_codes import GuestCodes
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import DESTINATION, SOURCE
from onair_api.live.destination.record import destination_record, public_destination
from onair_api.live.project.studio_renderer import with_renderer_url
from onair_api.live.source.record import SourceRecords
from onair_api.wire.encode import encode_message
from onair_api.wire.message import message_of
from onair_api.writes.credential_secrets import Credentials
from onair_crds.kube.store import Entry
from onair_crds.resources.encoding import Encoding, target_bitrate_bps
from onair_crds.resources.project import ProjectSpec, SourceTrigger
from onair_crds.resources.rendering import Rendering
from onair_crds.runtime.steps import in_steps
from onair_crds.shapes import JsonObject

PROJECT_MESSAGE = message_of(ProjectSpec).only(
    "metadata", "rendering", "encoding", "composition", "maxDuration", "webrtc", "location"
)
TRIGGER_MESSAGE = message_of(SourceTrigger)
MOST_AT_ONCE = 200
"""Destinations that are encoded in one step, which takes about a millisecond."""


class ProjectRecords:
    def __init__(
        self,
        view: View,
        credentials: Credentials,
        guest_codes: GuestCodes,
        sources: SourceRecords,
        renderer_base_url: str = "",
    ) -> None:
        """`renderer_base_url` is where versions of the studio's page are."""
        self.view = view
        self.renderer_base_url = renderer_base_url
        self.sources = sources
        self._credentials = credentials
        self._guest_codes = guest_codes

    def public(self, entry: Entry) -> JsonObject:
        """The record without secrets, which is what events carry."""
        view, collection_id = self.view, str(entry.spec.get("collectionId"))
        return {
            **self._own_record(entry),
            "sources": [self.sources.public(each) for each in sources_of(view, entry)],
            "destinations": [
                public_destination(each, collection_id) for each in view.children(DESTINATION, entry.name)
            ],
            "guestCodes": [],
        }

    async def prepare(self, entry: Entry) -> None:
        """Encodes the destinations of a project in steps, so that its record is made at once afterwards."""
        collection_id = str(entry.spec.get("collectionId"))
        async for each in in_steps(self.view.children(DESTINATION, entry.name)):
            public_destination(each, collection_id)

    def is_large(self, entry: Entry) -> bool:
        """Whether so much belongs to a project that its record is not to be made in one step."""
        return self.view.count(DESTINATION, entry.name) > MOST_AT_ONCE

    async def record(self, entry: Entry, *, secrets: bool) -> JsonObject:
        """The record of one project; `secrets` adds guest codes, and keys of destinations and sources."""
        view, collection_id = self.view, str(entry.spec.get("collectionId"))
        destinations = [
            await destination_record(each, collection_id, self._credentials, secrets=secrets)
            async for each in in_steps(view.children(DESTINATION, entry.name))
        ]
        return {
            **self._own_record(entry),
            "sources": [await self.sources.record(each, secrets=secrets) for each in sources_of(view, entry)],
            "destinations": destinations,
            "guestCodes": await self._guest_codes.of_project(entry) if secrets else [],
        }

    def _own_record(self, entry: Entry) -> JsonObject:
        record: JsonObject | None = entry.records.get("wire")
        if record is None:
            fields = _own_fields(entry, str(entry.spec.get("collectionId")))
            record = entry.records["wire"] = with_renderer_url(fields, self.renderer_base_url)
        return record


def _own_fields(entry: Entry, collection_id: str) -> JsonObject:
    spec = entry.spec
    written = encode_message(PROJECT_MESSAGE, spec)
    rate_control = written["encoding"]["video"]["rateControl"]
    rate_control.setdefault("targetBitrate", str(_target_bitrate_bps(spec)))
    return {
        "collectionId": collection_id,
        "projectId": entry.name,
        **written,
        "triggers": [
            {"source": {"sourceId": each["sourceId"], **encode_message(TRIGGER_MESSAGE, each["trigger"])}}
            for each in spec.get("sources") or []
            if each.get("trigger")
        ],
    }


def _target_bitrate_bps(spec: JsonObject) -> int:
    """The bitrate in force where none was asked for."""
    try:
        rendering = Rendering.model_validate(spec.get("rendering") or {})
        encoding = Encoding.model_validate(spec.get("encoding") or {})
    except ValidationError:  # a newer version stored it: show the rest
        rendering, encoding = Rendering(), Encoding()
    return target_bitrate_bps(rendering, encoding)


def sources_of(view: View, entry: Entry) -> list[Entry]:
    """The sources of a project that exist, in the order in which they were added."""
    found = [view.get(SOURCE, each["sourceId"]) for each in entry.spec.get("sources") or []]
    collection_id = entry.spec.get("collectionId")
    return [each for each in found if each and each.spec.get("collectionId") == collection_id]
