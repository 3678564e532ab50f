"""Collection: what one user of one service owns; projects and sources belong to it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import PrinterColumn, Resource, SpecModel, Status, rules
from onair_crds.resources.values import IMMUTABLE, AnyJson


class Owner(SpecModel):
    """Whose collection it is; only tokens of this service and user have access over HTTP."""

    service_id: Annotated[str, Field(min_length=1, max_length=128, json_schema_extra=rules(IMMUTABLE))]
    """Service (backend) that the owner belongs to."""
    service_user_id: Annotated[str, Field(min_length=1, max_length=256, json_schema_extra=rules(IMMUTABLE))]
    """User of that service."""


class CollectionSpec(SpecModel):
    """What is wanted of a collection."""

    owner: Owner
    """Whose collection it is; cannot be changed."""
    metadata: AnyJson = None
    """Any JSON value of the caller's."""


class CollectionStatus(Status):
    """What the operator has observed of a collection."""


class Collection(Resource):
    """A set of projects and live sources with one owner."""

    kind = "Collection"
    plural = "collections"
    short_names = ["coll"]
    spec_model = CollectionSpec
    status_model = CollectionStatus
    columns = [
        PrinterColumn(name="Service", path=".spec.owner.serviceId"),
        PrinterColumn(name="User", path=".spec.owner.serviceUserId"),
        PrinterColumn(name="Age", path=".metadata.creationTimestamp", type="date"),
    ]

    spec: CollectionSpec
    status: CollectionStatus = CollectionStatus()
