"""The operations on collections."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import OWNERS
from onair_api.errors import Code
from onair_api.live.collection.service import Collections
from onair_api.operation import Flag, Operation

PATH = "/live/v2/collection"

COLLECTIONS = (
    Operation(
        name="GetCollections",
        method="GET",
        path=PATH,
        access=ByAccessToken(OWNERS),
        service=Collections,
        serve=Collections.list_collections,
        tag="collections",
        summary="List the caller's collections",
        description="Oldest first, with their projects and sources.",
        response="GetCollectionsResponse",
        only_errors=(Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED),
    ),
    Operation(
        name="CreateCollection",
        method="POST",
        path=PATH,
        access=ByAccessToken(OWNERS),
        service=Collections,
        serve=Collections.create,
        tag="collections",
        summary="Create a collection",
        description="It belongs to the token's user.",
        request="CreateCollectionRequest",
        example={"metadata": {"title": "Sunday service"}},
        response="CollectionResponse",
    ),
    Operation(
        name="GetCollection",
        method="GET",
        path=PATH + "/{collectionId}",
        access=ByAccessToken(OWNERS),
        service=Collections,
        serve=Collections.get,
        tag="collections",
        summary="Read a collection",
        description="Its projects come with everything that they own.",
        query=(
            Flag("populateProjects", "Include the projects. Default true."),
            Flag("populateSources", "Include the live sources. Default true."),
        ),
        response="CollectionResponse",
    ),
    Operation(
        name="UpdateCollection",
        method="PATCH",
        path=PATH + "/{collectionId}",
        access=ByAccessToken(OWNERS),
        service=Collections,
        serve=Collections.update,
        tag="collections",
        summary="Change a collection",
        description="Only the fields that `updateMask` names; without one, those that the body has.",
        request="UpdateCollectionRequest",
        example={"updateMask": "metadata", "metadata": {"title": "Evening"}},
        response="CollectionResponse",
        contended=True,
    ),
    Operation(
        name="DeleteCollection",
        method="DELETE",
        path=PATH + "/{collectionId}",
        access=ByAccessToken(OWNERS),
        service=Collections,
        serve=Collections.delete,
        tag="collections",
        summary="Delete a collection and all that it owns",
        description="FAILED_PRECONDITION while a project broadcasts, unless forced.",
        query=(Flag("force", "End the broadcasts of its projects. Default false."),),
        response="DeleteCollectionResponse",
        contended=True,
    ),
)
