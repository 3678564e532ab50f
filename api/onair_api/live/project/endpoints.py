"""HTTP operations of projects."""

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

router = APIRouter(prefix="/live/v2/collection/{collectionId}/project", tags=["projects"])

PARENT = ("collectionId",)
IDS = (*PARENT, "projectId")


@router.post(
    "",
    **operation(
        Operation.CREATE_PROJECT,
        "Create a project",
        path=PARENT,
        request="CreateProjectRequest",
        response="ProjectResponse",
        example={
            "composition": {"external": {"url": "https://graphics.example.org/stage"}},
            "rendering": {"video": {"width": 1920, "height": 1080, "framerate": 30}},
        },
    ),
)
async def create_project(request: Request) -> Response:
    """Without a composition it is rendered by the scene compositor."""
    caller = await caller_of(request, Operation.CREATE_PROJECT)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.projects.create(caller, request.path_params["collectionId"], body))


@router.get(
    "/{projectId}",
    **operation(
        Operation.GET_PROJECT,
        "Read a project",
        path=IDS,
        query={"status": "Include the status of its broadcast. Default false."},
        response="GetProjectResponse",
    ),
)
async def get_project(request: Request) -> Response:
    """With its sources, triggers and destinations."""
    caller = await caller_of(request, Operation.GET_PROJECT)
    ids = request.path_params
    status = flag(request, "status")
    projects = services_of(request).projects
    return Json(await projects.get(caller, ids["collectionId"], ids["projectId"], status=status))


@router.patch(
    "/{projectId}",
    **operation(
        Operation.UPDATE_PROJECT,
        "Change a project",
        path=IDS,
        request="UpdateProjectRequest",
        response="UpdateProjectResponse",
        contended=True,
        example={
            "updateMask": "composition.external.url,rendering.quality",
            "composition": {"external": {"url": "https://graphics.example.org/finale"}},
            "rendering": {"quality": "RENDERING_QUALITY_HIGH"},
        },
    ),
)
async def update_project(request: Request) -> Response:
    """Only the fields that `updateMask` names; `broadcastUpdated` tells whether a running show changed."""
    caller = await caller_of(request, Operation.UPDATE_PROJECT)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    return Json(await services.projects.update(caller, ids["collectionId"], ids["projectId"], body))


@router.delete(
    "/{projectId}",
    **operation(
        Operation.DELETE_PROJECT,
        "Delete a project and all that it owns",
        path=IDS,
        query={"force": "End its broadcast. Default false."},
        response="DeleteProjectResponse",
        contended=True,
    ),
)
async def delete_project(request: Request) -> Response:
    """FAILED_PRECONDITION while it broadcasts, unless forced; then the show is ended properly."""
    caller = await caller_of(request, Operation.DELETE_PROJECT)
    ids = request.path_params
    force = flag(request, "force")
    projects = services_of(request).projects
    return Json(await projects.delete(caller, ids["collectionId"], ids["projectId"], force=force))
