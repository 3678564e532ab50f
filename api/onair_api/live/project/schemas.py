"""Schemas of projects, and of the sources in them."""

from __future__ import annotations

from onair_api.live.project.record import PROJECT_MESSAGE, TRIGGER_MESSAGE
from onair_api.wire.schema import (
    BOOLEAN,
    INTEGER,
    MASK,
    STRING,
    Schemas,
    add_schema,
    array,
    optional,
    record,
    reference,
    request_schemas,
    resource_schema,
)


def project_schemas() -> Schemas:
    """Schemas of the messages of project operations, by name."""
    schemas = request_schemas("Project", PROJECT_MESSAGE)
    children = {
        "sources": array(reference("Source")),
        "destinations": array(reference("Destination")),
        "triggers": array(record({"source": reference("SourceTrigger")})),
        "guestCodes": array(reference("GuestCode")),
    }
    schemas["Project"] = resource_schema(PROJECT_MESSAGE, ("collectionId", "projectId"), schemas, children)
    add_schema(TRIGGER_MESSAGE, schemas)
    schemas["SourceTrigger"]["properties"]["sourceId"] = STRING
    project, trigger = {"project": reference("Project")}, {"trigger": reference("SourceTrigger")}
    return schemas | {
        "ProjectResponse": record(project),
        "GetProjectResponse": record({**project, "status": reference("BroadcastStatus")}, ("project",)),
        "UpdateProjectResponse": record({**project, "broadcastUpdated": BOOLEAN}),
        "DeleteProjectResponse": record({"broadcastStopped": BOOLEAN, "layoutsDeleted": INTEGER}),
        "AddSourceToProjectRequest": optional(trigger),
        "UpdateSourceInProjectRequest": optional({"updateMask": MASK, **trigger}),
    }
