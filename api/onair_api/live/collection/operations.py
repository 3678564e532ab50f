"""The operations on collections."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import OWNERS
from onair_api.errors import Code
from onair_api.live.collection.service import Collections
from onair_api.operation import PAGE, Docs, Errors, Flag, Http, Messages, Operation, Rpc, ServiceMethod

PATH = "/live/v2/collection"
SERVICE = "live.v21.CollectionService"

COLLECTIONS = (
    Operation(
        name="GetCollections",
        http=Http("GET", PATH),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Collections, Collections.list_collections),
        messages=Messages(None, "GetCollectionsResponse", query=PAGE),
        docs=Docs(
            "collections", "List the caller's collections", "Oldest first, with their projects and sources."
        ),
        errors=Errors(
            only=(
                Code.INVALID_ARGUMENT,
                Code.UNAUTHENTICATED,
                Code.PERMISSION_DENIED,
                Code.RESOURCE_EXHAUSTED,
            )
        ),
    ),
    Operation(
        name="CreateCollection",
        http=Http("POST", PATH),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Collections, Collections.create),
        messages=Messages(
            "CreateCollectionRequest", "CollectionResponse", example={"metadata": {"title": "Sunday service"}}
        ),
        docs=Docs("collections", "Create a collection", "It belongs to the token's user."),
    ),
    Operation(
        name="GetCollection",
        http=Http("GET", PATH + "/{collectionId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Collections, Collections.get),
        messages=Messages(
            None,
            "CollectionResponse",
            query=(
                Flag("populateProjects", "Include the projects.", default=True),
                Flag("populateSources", "Include the live sources.", default=True),
            ),
        ),
        docs=Docs("collections", "Read a collection", "Includes its projects with everything that they own."),
    ),
    Operation(
        name="UpdateCollection",
        http=Http("PATCH", PATH + "/{collectionId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Collections, Collections.update),
        messages=Messages(
            "UpdateCollectionRequest",
            "CollectionResponse",
            example={"updateMask": "metadata", "metadata": {"title": "Evening"}},
        ),
        docs=Docs(
            "collections",
            "Change a collection",
            "Only the fields that `updateMask` names; without one, those that the body has.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="DeleteCollection",
        http=Http("DELETE", PATH + "/{collectionId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Collections, Collections.delete),
        messages=Messages(
            None,
            "DeleteCollectionResponse",
            query=(Flag("force", "End the broadcasts of its projects."),),
        ),
        docs=Docs(
            "collections",
            "Delete a collection and all that it owns",
            "FAILED_PRECONDITION while a project broadcasts, unless forced.",
        ),
        errors=Errors(contended=True),
    ),
)
