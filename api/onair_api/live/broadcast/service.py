"""Start, stop and status of a project's broadcast."""

from __future__ import annotations

import copy
import datetime as dt
from typing import Any

import structlog

from onair_api.access.ownership import owned_project
from onair_api.auth.caller import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import PROJECT
from onair_api.cache.view import Entry
from onair_api.errors import FailedPrecondition, Unavailable
from onair_api.live.broadcast.run import present_run, status_record, wanted_start, wanted_stop
from onair_api.live.broadcast.snapshot import Encoders
from onair_api.writes.identifiers import new_id
from onair_api.writes.writer import Writer
from onair_crds.resources.enums import BroadcastPhase

log = structlog.get_logger()


class Broadcasts:
    def __init__(self, cluster: Cluster, writer: Writer, encoders: Encoders) -> None:
        self._cluster = cluster
        self._writer = writer
        self._encoders = encoders

    async def start(self, caller: Caller, collection_id: str, project_id: str) -> dict[str, Any]:
        """Puts the show on air; gives the running run's id where it is already."""
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        fresh_id = new_id()
        run_id = ""

        async def change(entry: Entry) -> dict[str, Any]:
            nonlocal run_id
            run_id, wanted = wanted_start(entry.spec, entry.status, fresh_id)
            return {**copy.deepcopy(entry.spec), "broadcast": wanted}

        await self._writer.update(PROJECT, project.name, change, caller.note())
        if run_id == fresh_id:
            log.info("broadcast.requested", project=project.name, broadcast=run_id)
        return {"broadcastId": run_id}

    async def stop(self, caller: Caller, collection_id: str, project_id: str) -> dict[str, Any]:
        """Ends the show; nothing happens where it is not on air."""
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)

        async def change(entry: Entry) -> dict[str, Any]:
            return {**copy.deepcopy(entry.spec), "broadcast": wanted_stop(entry.spec, entry.status)}

        before, after = await self._writer.update(PROJECT, project.name, change, caller.note())
        if after is not before:
            log.info("broadcast.stop_requested", project=project.name)
        return {}

    async def snapshot(self, caller: Caller, collection_id: str, project_id: str) -> bytes:
        """A JPEG of the running broadcast.

        Raises:
            NotFound: the caller reaches no such project.
            FailedPrecondition: no broadcast runs.
            Unavailable: its encoder gives no picture just now.
        """
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        if present_run(project.spec, project.status).phase is not BroadcastPhase.RUNNING:
            raise FailedPrecondition("the project has no running broadcast to take a picture of")
        broadcast = project.status.get("broadcast") or {}
        pod, uid = broadcast.get("pod"), broadcast.get("encoder")
        if not pod or not uid:
            raise Unavailable("the broadcast is moving to another encoder; try again")
        return await self._encoders.picture(str(pod), str(uid))

    async def status(self, caller: Caller, collection_id: str, project_id: str) -> dict[str, Any]:
        project = await owned_project(self._cluster, caller.identity, collection_id, project_id)
        return {"status": status_of(project)}


def status_of(project: Entry) -> dict[str, Any]:
    """The broadcast status of a project as it stands."""
    run = present_run(project.spec, project.status)
    return status_record(str(project.spec.get("collectionId")), project.name, run, dt.datetime.now(dt.UTC))


def on_air(project: Entry) -> bool:
    """Whether a change of the project reaches a running broadcast."""
    return present_run(project.spec, project.status).on_air
