"""Schemas of collections."""

from __future__ import annotations

from onair_api.live.collection.service import COLLECTION_MESSAGE
from onair_api.wire.schema import (
    INTEGER,
    STRING,
    Schemas,
    array,
    listing,
    record,
    reference,
    request_schemas,
    resource_schema,
)


def collection_schemas() -> Schemas:
    """Schemas of the messages of collection operations, by name."""
    schemas = request_schemas("Collection", COLLECTION_MESSAGE)
    children = {"projects": array(reference("Project")), "sources": array(reference("Source"))}
    schemas["Collection"] = resource_schema(COLLECTION_MESSAGE, ("collectionId",), schemas, children)
    return schemas | {
        "CollectionResponse": record({"collection": reference("Collection")}),
        "GetCollectionsResponse": listing("collections", reference("Collection")),
        "DeleteCollectionResponse": record(
            {"sourcesDeleted": INTEGER, "projectsDeleted": INTEGER, "projectIdsStopped": array(STRING)}
        ),
    }
