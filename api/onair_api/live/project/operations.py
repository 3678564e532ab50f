"""The operations on projects, and on the sources in them."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS, OWNERS, VIEWERS
from onair_api.live.project.service import Projects
from onair_api.live.project.sources import ProjectSources
from onair_api.operation import Flag, Operation

PATH = "/live/v2/collection/{collectionId}/project"
PROJECT = PATH + "/{projectId}"
SOURCE = PROJECT + "/source/{sourceId}"

PROJECTS = (
    Operation(
        name="CreateProject",
        method="POST",
        path=PATH,
        access=ByAccessToken(OWNERS),
        service=Projects,
        serve=Projects.create,
        tag="projects",
        summary="Create a project",
        description="Without a composition it is rendered by the scene compositor.",
        request="CreateProjectRequest",
        example={
            "composition": {"external": {"url": "https://graphics.example.org/stage"}},
            "rendering": {"video": {"width": 1920, "height": 1080, "framerate": 30}},
        },
        response="ProjectResponse",
    ),
    Operation(
        name="GetProject",
        method="GET",
        path=PROJECT,
        access=ByAccessToken(VIEWERS),
        service=Projects,
        serve=Projects.get,
        tag="projects",
        summary="Read a project",
        description="With its sources, triggers and destinations.",
        query=(Flag("status", "Include the status of its broadcast. Default false."),),
        response="GetProjectResponse",
    ),
    Operation(
        name="UpdateProject",
        method="PATCH",
        path=PROJECT,
        access=ByAccessToken(CONTRIBUTORS),
        service=Projects,
        serve=Projects.update,
        tag="projects",
        summary="Change a project",
        description="Only the fields that `updateMask` names; `broadcastUpdated` tells whether a "
        "running show changed.",
        request="UpdateProjectRequest",
        example={
            "updateMask": "composition.external.url,rendering.quality",
            "composition": {"external": {"url": "https://graphics.example.org/finale"}},
            "rendering": {"quality": "RENDERING_QUALITY_HIGH"},
        },
        response="UpdateProjectResponse",
        contended=True,
    ),
    Operation(
        name="DeleteProject",
        method="DELETE",
        path=PROJECT,
        access=ByAccessToken(OWNERS),
        service=Projects,
        serve=Projects.delete,
        tag="projects",
        summary="Delete a project and all that it owns",
        description="FAILED_PRECONDITION while it broadcasts, unless forced; then the show is ended "
        "properly.",
        query=(Flag("force", "End its broadcast. Default false."),),
        response="DeleteProjectResponse",
        contended=True,
    ),
    Operation(
        name="AddSourceToProject",
        method="PUT",
        path=SOURCE,
        access=ByAccessToken(COHOSTS),
        service=ProjectSources,
        serve=ProjectSources.add,
        tag="sources",
        summary="Add a live source to a project",
        description="With a trigger, its start and stop can start and stop the broadcast.",
        request="AddSourceToProjectRequest",
        example={"trigger": {"start": "SOURCE_TRIGGER_ACTION_OR", "stop": "SOURCE_TRIGGER_ACTION_OR"}},
        response="UpdateProjectResponse",
        contended=True,
    ),
    Operation(
        name="UpdateSourceInProject",
        method="PATCH",
        path=SOURCE,
        access=ByAccessToken(COHOSTS),
        service=ProjectSources,
        serve=ProjectSources.update,
        tag="sources",
        summary="Change a project's trigger on a live source",
        description="Only the fields that `updateMask` names; `trigger` alone, absent from the body, removes "
        "it.",
        request="UpdateSourceInProjectRequest",
        example={"updateMask": "trigger.stop", "trigger": {"stop": "SOURCE_TRIGGER_ACTION_IGNORE"}},
        response="ProjectResponse",
        contended=True,
    ),
    Operation(
        name="RemoveSourceFromProject",
        method="DELETE",
        path=SOURCE,
        access=ByAccessToken(COHOSTS),
        service=ProjectSources,
        serve=ProjectSources.remove,
        tag="sources",
        summary="Remove a live source from a project",
        description="FAILED_PRECONDITION while the project broadcasts, unless forced.",
        query=(Flag("force", "Even if it is in use in a running broadcast. Default false."),),
        response="UpdateProjectResponse",
        contended=True,
    ),
)
