"""Layouts: list, create, read, update, delete."""

from __future__ import annotations

import uuid
from contextlib import suppress

from onair_api.access.visible_layouts import deletable_layout, owned_layout, project_of, visible_projects
from onair_api.auth.callers import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import LAYOUT
from onair_api.errors import InvalidArgument, NotFound, Violation
from onair_api.layout.layer.record import with_request_metadata
from onair_api.layout.layer.request import RoundingDecoder
from onair_api.layout.record import LAYOUT_MESSAGE, canvas, layout_fields
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_api.wire.decode import enum_field
from onair_api.wire.list_page import page_of
from onair_api.wire.model_violations import check
from onair_api.writes.identifiers import new_id
from onair_api.writes.writer import Writer
from onair_crds.contract.layers import ROOT, is_scene
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import LayoutType
from onair_crds.resources.layout import LayoutSpec
from onair_crds.shapes import JsonObject

METADATA_BYTES = 10_000
"""Bound of a layout's metadata (`interface.md`, "Limits")."""

FIXED = ("projectId", "collectionId", "type")
"""Fields that cannot be changed."""


class Layouts:
    def __init__(self, cluster: Cluster, writer: Writer, limits: LimitSettings) -> None:
        self._cluster = cluster
        self._writer = writer
        self._limits = limits

    async def list_layouts(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """The layouts that the caller may see, oldest first; a filter that names another's finds none."""
        collection_id = message.get("collectionId")
        type_ = enum_field(message, "type", LayoutType)
        found: list[tuple[Entry, Entry]] = []
        for project in await visible_projects(self._cluster, caller.identity, message.get("projectId")):
            if collection_id and project.spec.get("collectionId") != collection_id:
                continue
            found += [(entry, project) for entry in self._cluster.view.children(LAYOUT, project.name)]
        if type_ is not None:
            found = [each for each in found if is_scene(each[0].spec) == (type_ is LayoutType.SCENE)]
        found.sort(key=lambda each: each[0].created)
        page = page_of(found, message, lambda each: each[0].created)
        return {"items": [layout_fields(entry, project) for entry, project in page.items], **page.field}

    async def create(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """A scene begins with its root layer; size and collection are the project's where not given."""
        note = caller.note(message, self._limits.request_metadata_bytes)
        values = self._values(message)
        project = await project_of(self._cluster, caller.identity, values["projectId"])
        collection_id = project.spec.get("collectionId")
        if values.get("collectionId", collection_id) != collection_id:
            raise InvalidArgument(Violation("collectionId", "is not the collection of the project"))
        spec = {"type": LayoutType.SCENELESS.value, "collectionId": collection_id} | canvas(project) | values
        if is_scene(spec):
            spec["layers"] = [{"id": new_id(), "type": ROOT}]
        _only_scenes_have_transitions(spec)
        name = str(uuid.uuid4())  # what clients expect of a layout's id (`interface.md`, EventTarget)
        entry = await self._writer.create(LAYOUT, spec, note, owner=project, name=name)
        return with_request_metadata(layout_fields(entry, project), note.metadata)

    async def get(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        return layout_fields(*await owned_layout(self._cluster, caller.identity, ids["layoutId"]))

    async def update(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Changes the fields that were sent."""
        layout, project = await owned_layout(self._cluster, caller.identity, ids["layoutId"])
        note = caller.note(message, self._limits.request_metadata_bytes)
        values = self._values(
            {"projectId": project.name, **{k: v for k, v in message.items() if v is not None}}
        )

        async def change(entry: Entry) -> JsonObject:
            spec = entry.spec
            present = {
                "type": LayoutType.SCENELESS.value,
                "collectionId": project.spec.get("collectionId"),
                **spec,
            }
            if changed := [name for name in FIXED if values.get(name, present[name]) != present[name]]:
                raise InvalidArgument(*(Violation(name, "cannot be changed") for name in changed))
            wanted = {**spec, **{name: value for name, value in values.items() if name not in FIXED}}
            _only_scenes_have_transitions(wanted)
            return wanted

        _, after = await self._writer.update(layout, change, note)
        return with_request_metadata(layout_fields(after, project), note.metadata)

    async def delete(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Succeeds also where the layout goes with its project meanwhile: clients delete both at once."""
        layout = await deletable_layout(self._cluster, caller.identity, ids["layoutId"])
        note = caller.note(message, self._limits.request_metadata_bytes)
        if layout:
            with suppress(NotFound):
                await self._writer.delete(layout, note)
        return with_request_metadata({"id": ids["layoutId"]}, note.metadata)

    def _values(self, message: JsonObject) -> JsonObject:
        """The fields of a request in the resource's form.

        Raises:
            InvalidArgument: names every wrong field.
        """
        decoder = RoundingDecoder(METADATA_BYTES)
        values = decoder.message(LAYOUT_MESSAGE, message)
        if not isinstance(values.get("metadata", {}), dict):
            decoder.violations.append(Violation("metadata", "must be an object"))
        check(LayoutSpec, values, decoder.violations)
        return values


def _only_scenes_have_transitions(spec: JsonObject) -> None:
    if spec.get("transitions") and not is_scene(spec):
        raise InvalidArgument(
            Violation("transitions", f"only a layout of type {LayoutType.SCENE.wire} has transitions")
        )
