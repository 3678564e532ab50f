"""Announces the change of a live resource: created, updated, deleted, added, removed, its state."""

from __future__ import annotations

from typing import Any

from onair_api.access.target import Target
from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, PROJECT, SHOWN, SOURCE
from onair_api.event.changes.announcement import ADD, CREATE, DELETE, REMOVE, STATE, UPDATE, Announcement
from onair_api.event.changes.broadcast_states import broadcast_states
from onair_api.event.changes.changed_fields import changed_paths
from onair_api.live.collection.service import COLLECTION_MESSAGE
from onair_api.live.connection_record import connect_state
from onair_api.live.destination.record import DESTINATION_MESSAGE, public_destination
from onair_api.live.project.record import PROJECT_MESSAGE, ProjectRecords
from onair_api.live.source.record import SOURCE_MESSAGE
from onair_api.wire.encode import encode_message
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject

MESSAGES = {
    COLLECTION: COLLECTION_MESSAGE,
    PROJECT: PROJECT_MESSAGE,
    SOURCE: SOURCE_MESSAGE,
    DESTINATION: DESTINATION_MESSAGE,
}


def live_announcements(
    before: Entry | None, after: Entry | None, target: Target, records: ProjectRecords
) -> list[Announcement]:
    """Returns what a change of a Live resource announces.

    Args:
        before, after: the versions seen before and now; None: there is no such object. At least one is.
        target: the object's, complete.
        records: where a record's related objects are found.
    """
    shown_before, shown_after = _shown(before), _shown(after)
    found: list[Announcement] = []
    if shown_after and not shown_before:
        found.append(_announcement(shown_after, CREATE, target, records))
    elif shown_before and shown_after:
        found += _updates(shown_before, shown_after, target, records)
    elif shown_before:
        found.append(_announcement(shown_before, DELETE, target, records))
    if after and not (after.deleting and before is None):
        found += _states(before, after, target, records)
    return found


def _shown(entry: Entry | None) -> Entry | None:
    """An object that is being deleted does not exist any more over HTTP."""
    return None if entry is None or entry.deleting else entry


def _announcement(
    entry: Entry, sub_type: str, target: Target, records: ProjectRecords, **more: Any
) -> Announcement:
    type_ = entry.kind.lower()
    record = {**_ids(entry, target), **more}
    if sub_type in (CREATE, UPDATE):
        record[type_] = _record(entry, target, records)
    projects = _projects_of(records, entry, target) if entry.kind == SOURCE else ()
    return Announcement(type_, sub_type, record, target, projects=projects)


def _ids(entry: Entry, target: Target) -> JsonObject:
    """The ids of the event's record: those of its scope, and its own."""
    own = {} if entry.kind in (COLLECTION, PROJECT) else {f"{entry.kind.lower()}Id": entry.name}
    return {**target.json(), **own}


def _record(entry: Entry, target: Target, records: ProjectRecords) -> JsonObject:
    """As HTTP shows it to those who may not see secrets. A collection is shown without what it owns."""
    match entry.kind:
        case "Collection":
            written = encode_message(COLLECTION_MESSAGE, entry.spec)
            return {"collectionId": entry.name, **written, "projects": [], "sources": []}
        case "Project":
            return records.public(entry)
        case "Source":
            return records.sources.public(entry)
        case _:
            return public_destination(entry, str(target.collection_id))


def _updates(before: Entry, after: Entry, target: Target, records: ProjectRecords) -> list[Announcement]:
    found: list[Announcement] = []
    paths = changed_paths(MESSAGES[after.kind], before.spec, after.spec)
    if after.kind == PROJECT:
        if _triggers(before) != _triggers(after):
            paths.append("triggers")
        found += _sources(before, after, target, records)
    if paths:
        found.insert(0, _announcement(after, UPDATE, target, records, updateMask=paths))
    return found


def _triggers(project: Entry) -> list[Any]:
    return [(s["sourceId"], s["trigger"]) for s in project.spec.get("sources") or [] if s.get("trigger")]


def _sources(before: Entry, after: Entry, target: Target, records: ProjectRecords) -> list[Announcement]:
    """Sources that a project gained or lost."""
    old, new = (
        dict.fromkeys(s["sourceId"] for s in each.spec.get("sources") or []) for each in (before, after)
    )
    found = []
    for source_id in new.keys() - old.keys():
        record = {"collectionId": target.collection_id, "sourceId": source_id, "projectId": after.name}
        source = records.view.get(SOURCE, source_id)
        if source:
            record["source"] = records.sources.public(source)
        found.append(Announcement("source", ADD, record, target, subject=source_id))
    for source_id in old.keys() - new.keys():
        record = {"collectionId": target.collection_id, "sourceId": source_id, "projectId": after.name}
        found.append(Announcement("source", REMOVE, record, target, subject=source_id))
    return sorted(found, key=lambda each: (each.sub_type, each.subject))


def _projects_of(records: ProjectRecords, source: Entry, target: Target) -> tuple[str, ...]:
    """The projects that a source takes part in."""
    projects = records.view.found(PROJECT, SHOWN, str(target.collection_id), source.name)
    return tuple(project.name for project in projects)


def _states(
    before: Entry | None, after: Entry, target: Target, records: ProjectRecords
) -> list[Announcement]:
    if after.kind == PROJECT:
        return [
            Announcement("project", STATE, {**target.json(), **state}, target, subject=subject)
            for subject, state in broadcast_states(before, after)
        ]
    if after.kind not in (SOURCE, DESTINATION):
        return []
    connect = connect_state(after.status)
    if connect == connect_state(before.status if before else {}):
        return []
    record = {**_ids(after, target), "connect": connect.wire}
    if after.kind == DESTINATION:
        return [Announcement("destination", STATE, record, target)]
    of_projects = (
        Announcement("source", STATE, {**record, "projectId": each}, Target(target.collection_id, each), each)
        for each in _projects_of(records, after, target)
    )
    return [Announcement("source", STATE, record, target), *of_projects]
