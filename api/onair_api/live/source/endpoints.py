"""HTTP operations of live sources, in their collection and in its projects."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.http.body import read_object
from onair_api.http.documented import operation
from onair_api.http.query import flag
from onair_api.http.responses import Json
from onair_api.services import services_of

router = APIRouter(prefix="/live/v2/collection/{collectionId}", tags=["sources"])

PARENT = ("collectionId",)
IDS = (*PARENT, "sourceId")
IN_PROJECT = (*PARENT, "projectId", "sourceId")
PROJECT_SOURCE = "/project/{projectId}/source/{sourceId}"
FORCE = {"force": "Even if it is in use in a running broadcast. Default false."}
TRIGGER_EXAMPLE = {"trigger": {"start": "SOURCE_TRIGGER_ACTION_OR", "stop": "SOURCE_TRIGGER_ACTION_OR"}}


@router.get(
    "/source",
    **operation(
        Operation.GET_SOURCES, "List a collection's live sources", path=PARENT, response="GetSourcesResponse"
    ),
)
async def get_sources(request: Request) -> Response:
    """Oldest first."""
    caller = await caller_of(request, Operation.GET_SOURCES)
    return Json(await services_of(request).sources.of_collection(caller, request.path_params["collectionId"]))


@router.post(
    "/source",
    **operation(
        Operation.CREATE_SOURCE,
        "Create a live source",
        path=PARENT,
        request="CreateSourceRequest",
        response="SourceResponse",
        example={"metadata": {"name": "Camera 1"}, "address": {"rtmpPush": {"enabled": True}}},
    ),
)
async def create_source(request: Request) -> Response:
    """Needs the scope SCOPE_VAPI_CREATE. Where it is pushed to is assigned, and comes with the answer."""
    caller = await caller_of(request, Operation.CREATE_SOURCE)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.sources.create(caller, request.path_params["collectionId"], body))


@router.get(
    "/source/{sourceId}",
    **operation(Operation.GET_SOURCE, "Read a live source", path=IDS, response="SourceResponse"),
)
async def get_source(request: Request) -> Response:
    """Stream key, stream id and url are shown to hosts alone."""
    caller = await caller_of(request, Operation.GET_SOURCE)
    ids = request.path_params
    return Json(await services_of(request).sources.get(caller, ids["collectionId"], ids["sourceId"]))


@router.patch(
    "/source/{sourceId}",
    **operation(
        Operation.UPDATE_SOURCE,
        "Change a live source",
        path=IDS,
        request="UpdateSourceRequest",
        response="UpdateSourceResponse",
        contended=True,
        example={"updateMask": "address.rtmpPush.enabled", "address": {"rtmpPush": {"enabled": False}}},
    ),
)
async def update_source(request: Request) -> Response:
    """Only the fields that `updateMask` names. The stream key stays, also from RTMP to SRT."""
    caller = await caller_of(request, Operation.UPDATE_SOURCE)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    return Json(await services.sources.update(caller, ids["collectionId"], ids["sourceId"], body))


@router.delete(
    "/source/{sourceId}",
    **operation(
        Operation.DELETE_SOURCE,
        "Delete a live source",
        path=IDS,
        query=FORCE,
        response="DeleteSourceResponse",
        contended=True,
    ),
)
async def delete_source(request: Request) -> Response:
    """It leaves the projects that it is in; FAILED_PRECONDITION while one broadcasts, unless forced."""
    caller = await caller_of(request, Operation.DELETE_SOURCE)
    force = flag(request, "force")
    ids = request.path_params
    sources = services_of(request).sources
    return Json(await sources.delete(caller, ids["collectionId"], ids["sourceId"], force=force))


@router.put(
    PROJECT_SOURCE,
    **operation(
        Operation.ADD_SOURCE_TO_PROJECT,
        "Add a live source to a project",
        path=IN_PROJECT,
        request="AddSourceToProjectRequest",
        response="UpdateProjectResponse",
        contended=True,
        example=TRIGGER_EXAMPLE,
    ),
)
async def add_source_to_project(request: Request) -> Response:
    """With a trigger, its start and stop can start and stop the broadcast."""
    caller = await caller_of(request, Operation.ADD_SOURCE_TO_PROJECT)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    path = (ids["collectionId"], ids["projectId"], ids["sourceId"])
    return Json(await services.project_sources.add(caller, *path, body))


@router.patch(
    PROJECT_SOURCE,
    **operation(
        Operation.UPDATE_SOURCE_IN_PROJECT,
        "Change a project's trigger on a live source",
        path=IN_PROJECT,
        request="UpdateSourceInProjectRequest",
        response="ProjectResponse",
        contended=True,
        example={"updateMask": "trigger.stop", "trigger": {"stop": "SOURCE_TRIGGER_ACTION_IGNORE"}},
    ),
)
async def update_source_in_project(request: Request) -> Response:
    """Only the fields that `updateMask` names; `trigger` alone, absent from the body, removes it."""
    caller = await caller_of(request, Operation.UPDATE_SOURCE_IN_PROJECT)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    path = (ids["collectionId"], ids["projectId"], ids["sourceId"])
    return Json(await services.project_sources.update(caller, *path, body))


@router.delete(
    PROJECT_SOURCE,
    **operation(
        Operation.REMOVE_SOURCE_FROM_PROJECT,
        "Remove a live source from a project",
        path=IN_PROJECT,
        query=FORCE,
        response="UpdateProjectResponse",
        contended=True,
    ),
)
async def remove_source_from_project(request: Request) -> Response:
    """FAILED_PRECONDITION while the project broadcasts, unless forced."""
    caller = await caller_of(request, Operation.REMOVE_SOURCE_FROM_PROJECT)
    force = flag(request, "force")
    ids = request.path_params
    path = (ids["collectionId"], ids["projectId"], ids["sourceId"])
    return Json(await services_of(request).project_sources.remove(caller, *path, force=force))
