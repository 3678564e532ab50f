"""HTTP operations of collections."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.errors import Code
from onair_api.http.body import read_object
from onair_api.http.documented import operation
from onair_api.http.query import flag
from onair_api.http.responses import Json
from onair_api.services import services_of

router = APIRouter(prefix="/live/v2/collection", tags=["collections"])

ID = ("collectionId",)


@router.get(
    "",
    **operation(
        Operation.GET_COLLECTIONS,
        "List the caller's collections",
        response="GetCollectionsResponse",
        errors=(Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED),
    ),
)
async def get_collections(request: Request) -> Response:
    """Oldest first, with their projects and sources."""
    caller = await caller_of(request, Operation.GET_COLLECTIONS)
    return Json(await services_of(request).collections.list(caller))


@router.post(
    "",
    **operation(
        Operation.CREATE_COLLECTION,
        "Create a collection",
        request="CreateCollectionRequest",
        response="CollectionResponse",
        example={"metadata": {"title": "Sunday service"}},
    ),
)
async def create_collection(request: Request) -> Response:
    """It belongs to the token's user."""
    caller = await caller_of(request, Operation.CREATE_COLLECTION)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.collections.create(caller, body))


@router.get(
    "/{collectionId}",
    **operation(
        Operation.GET_COLLECTION,
        "Read a collection",
        path=ID,
        query={
            "populateProjects": "Include the projects. Default true.",
            "populateSources": "Include the live sources. Default true.",
        },
        response="CollectionResponse",
    ),
)
async def get_collection(request: Request) -> Response:
    """Its projects come with everything that they own."""
    caller = await caller_of(request, Operation.GET_COLLECTION)
    return Json(
        await services_of(request).collections.get(
            caller,
            request.path_params["collectionId"],
            projects=flag(request, "populateProjects", default=True),
            sources=flag(request, "populateSources", default=True),
        )
    )


@router.patch(
    "/{collectionId}",
    **operation(
        Operation.UPDATE_COLLECTION,
        "Change a collection",
        path=ID,
        request="UpdateCollectionRequest",
        response="CollectionResponse",
        contended=True,
        example={"updateMask": "metadata", "metadata": {"title": "Evening"}},
    ),
)
async def update_collection(request: Request) -> Response:
    """Only the fields that `updateMask` names; without one, those that the body has."""
    caller = await caller_of(request, Operation.UPDATE_COLLECTION)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.collections.update(caller, request.path_params["collectionId"], body))


@router.delete(
    "/{collectionId}",
    **operation(
        Operation.DELETE_COLLECTION,
        "Delete a collection and all that it owns",
        path=ID,
        query={"force": "End the broadcasts of its projects. Default false."},
        response="DeleteCollectionResponse",
        contended=True,
    ),
)
async def delete_collection(request: Request) -> Response:
    """FAILED_PRECONDITION while a project broadcasts, unless forced."""
    caller = await caller_of(request, Operation.DELETE_COLLECTION)
    force = flag(request, "force")
    return Json(
        await services_of(request).collections.delete(
            caller, request.path_params["collectionId"], force=force
        )
    )
