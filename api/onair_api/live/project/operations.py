"""The operations on projects, and on the sources in them."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS, OWNERS, VIEWERS
from onair_api.live.project.project_sources import ProjectSources
from onair_api.live.project.service import Projects
from onair_api.operation import Docs, Errors, Flag, Http, Messages, Operation, Rpc, ServiceMethod

PATH = "/live/v2/collection/{collectionId}/project"
SERVICE = "live.v21.ProjectService"
SOURCE_SERVICE = "live.v21.SourceService"
PROJECT = PATH + "/{projectId}"
SOURCE = PROJECT + "/source/{sourceId}"

PROJECTS = (
    Operation(
        name="CreateProject",
        http=Http("POST", PATH),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Projects, Projects.create),
        messages=Messages(
            "CreateProjectRequest",
            "ProjectResponse",
            example={
                "composition": {"external": {"url": "https://graphics.example.org/stage"}},
                "rendering": {"video": {"width": 1920, "height": 1080, "framerate": 30}},
            },
        ),
        docs=Docs(
            "projects", "Create a project", "Without a composition it is rendered by the scene compositor."
        ),
    ),
    Operation(
        name="GetProject",
        http=Http("GET", PROJECT),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(VIEWERS),
        service=ServiceMethod(Projects, Projects.get),
        messages=Messages(
            None,
            "GetProjectResponse",
            query=(Flag("status", "Include the status of its broadcast."),),
        ),
        docs=Docs("projects", "Read a project", "With its sources, triggers and destinations."),
    ),
    Operation(
        name="UpdateProject",
        http=Http("PATCH", PROJECT),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Projects, Projects.update),
        messages=Messages(
            "UpdateProjectRequest",
            "UpdateProjectResponse",
            example={
                "updateMask": "composition.external.url,rendering.quality",
                "composition": {"external": {"url": "https://graphics.example.org/finale"}},
                "rendering": {"quality": "RENDERING_QUALITY_HIGH"},
            },
        ),
        docs=Docs(
            "projects",
            "Change a project",
            "Only the fields that `updateMask` names; `broadcastUpdated` says whether a running "
            "show changed.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="DeleteProject",
        http=Http("DELETE", PROJECT),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Projects, Projects.delete),
        messages=Messages(None, "DeleteProjectResponse", query=(Flag("force", "End its broadcast."),)),
        docs=Docs(
            "projects",
            "Delete a project and all that it owns",
            "FAILED_PRECONDITION while it broadcasts, unless forced; then the show is ended properly.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="AddSourceToProject",
        http=Http("PUT", SOURCE),
        rpc=Rpc(SOURCE_SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(ProjectSources, ProjectSources.add),
        messages=Messages(
            "AddSourceToProjectRequest",
            "UpdateProjectResponse",
            example={"trigger": {"start": "SOURCE_TRIGGER_ACTION_OR", "stop": "SOURCE_TRIGGER_ACTION_OR"}},
        ),
        docs=Docs(
            "sources",
            "Add a live source to a project",
            "With a trigger, its start and stop can start and stop the broadcast.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="UpdateSourceInProject",
        http=Http("PATCH", SOURCE),
        rpc=Rpc(SOURCE_SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(ProjectSources, ProjectSources.update),
        messages=Messages(
            "UpdateSourceInProjectRequest",
            "ProjectResponse",
            example={"updateMask": "trigger.stop", "trigger": {"stop": "SOURCE_TRIGGER_ACTION_IGNORE"}},
        ),
        docs=Docs(
            "sources",
            "Change a project's trigger on a live source",
            "Only the fields that `updateMask` names; naming `trigger` without giving one removes it.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="RemoveSourceFromProject",
        http=Http("DELETE", SOURCE),
        rpc=Rpc(SOURCE_SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(ProjectSources, ProjectSources.remove),
        messages=Messages(
            None,
            "UpdateProjectResponse",
            query=(Flag("force", "Even if it is in use in a running broadcast."),),
        ),
        docs=Docs(
            "sources",
            "Remove a live source from a project",
            "FAILED_PRECONDITION while the project broadcasts, unless forced.",
        ),
        errors=Errors(contended=True),
    ),
)
