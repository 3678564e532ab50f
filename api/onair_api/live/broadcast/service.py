"""Start, stop and status of a project's broadcast."""

from __future__ import annotations

import datetime as dt

import structlog

from onair_api.access.ownership import owned_project
from onair_api.auth.callers import Caller
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.errors import FailedPrecondition, Unavailable
from onair_api.live.broadcast.run import is_on_air, present_run, status_record, wanted_start, wanted_stop
from onair_api.live.broadcast.snapshot import Encoders
from onair_api.live.broadcast.verdict import verdict
from onair_api.live.room.desired import closed, hosted, opened, with_room
from onair_api.operation import Ids
from onair_api.wire.decode import enum_field
from onair_api.writes.identifiers import new_id
from onair_api.writes.writer import Writer
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import BroadcastPhase, ImageFormat
from onair_crds.shapes import JsonObject

log = structlog.get_logger()


class Broadcasts:
    def __init__(self, cluster: Cluster, writer: Writer, encoders: Encoders) -> None:
        self._cluster = cluster
        self._writer = writer
        self._encoders = encoders

    async def start(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Puts the show on air; gives the running run's id where it is already.

        Raises:
            QuotaExceeded: too many are on air, or too large ones.
        """
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        fresh_id = new_id()
        run_id = ""

        async def change(entry: Entry) -> JsonObject:
            nonlocal run_id
            run_id, wanted = wanted_start(entry.spec, entry.status, fresh_id)
            spec = {**entry.spec, "broadcast": wanted}
            if message["webrtcStart"] and hosted(spec):
                return with_room(spec, opened(entry.spec, entry.status, dt.datetime.now(dt.UTC)))
            return spec

        await self._writer.update(project, change, caller.note())
        if run_id == fresh_id:
            log.info("broadcast.requested", project=project.name, broadcast=run_id)
        return {"broadcastId": run_id}

    async def stop(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Ends the show; nothing happens where it is not on air."""
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])

        async def change(entry: Entry) -> JsonObject:
            spec = {**entry.spec, "broadcast": wanted_stop(entry.spec, entry.status)}
            return with_room(spec, closed(spec)) if message["webrtcStop"] else spec

        before, after = await self._writer.update(project, change, caller.note())
        if after is not before:
            log.info("broadcast.stop_requested", project=project.name)
        return {}

    async def snapshot(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """A JPEG of the running broadcast: `{format, image}`, the image as bytes.

        Raises:
            InvalidArgument: an unknown format is asked for.
            NotFound: the caller reaches no such project.
            FailedPrecondition: no broadcast runs.
            Unavailable: its encoder gives no image at the moment.
        """
        enum_field(message, "format", ImageFormat)
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        if present_run(project.spec, project.status).phase is not BroadcastPhase.RUNNING:
            raise FailedPrecondition("the project has no running broadcast to take a snapshot of")
        broadcast = project.status.get("broadcast") or {}
        pod, uid = broadcast.get("pod"), broadcast.get("encoder")
        if not pod or not uid:
            raise Unavailable("the broadcast is moving to another encoder; try again")
        image = await self._encoders.snapshot(str(pod), str(uid))
        return {"format": ImageFormat.JPEG.wire, "image": image}

    async def status(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        return {"status": status_of(project, caller.identity)}


def status_of(project: Entry, identity: Identity) -> JsonObject:
    """The broadcast status of a project as it stands, and why; a message may name servers and pages."""
    run = present_run(project.spec, project.status)
    why = verdict(project.status, run)
    if not identity.sees_addresses:
        why.pop("message", None)
    collection_id = str(project.spec.get("collectionId"))
    return status_record(collection_id, project.name, run, dt.datetime.now(dt.UTC)) | why


def on_air(project: Entry) -> bool:
    """Whether a change of the project reaches a running broadcast."""
    return is_on_air(project.spec, project.status)
