"""Builders of sources and of what gateways say of them, as the operator would observe them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tests.support.worlds import collection

from onair_crds.contract.ingest_gateway import StreamState, stream_of_key
from onair_crds.resources.source import Source
from onair_crds.shapes import Document
from onair_operator.ingest.observed import GatewayContact, GatewayView, Sighting
from onair_operator.source.observe import ObservedSource

KEY = "camera-key"
KEY_STREAM = stream_of_key(KEY)
REGION = "eu-central-1"


def source(
    address: Document | None = None, status: Document | None = None, name: str = "camera", **metadata: Any
) -> Source:
    """A source that is pushed by RTMP unless `address` says otherwise."""
    return Source.model_validate(
        {
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "resourceVersion": "1",
                "creationTimestamp": "2026-05-01T10:00:00Z",
                **metadata,
            },
            "spec": {"collectionId": "sunday", "address": address or {"rtmpPush": {}}},
            "status": status or {},
        }
    )


def gateway(
    name: str = "ingest-0", contact: GatewayContact = GatewayContact.REACHABLE, region: str = REGION
) -> GatewayView:
    return GatewayView(name, region, contact)


def sighting(
    state: StreamState,
    name: str = "ingest-0",
    contact: GatewayContact = GatewayContact.REACHABLE,
    *,
    came_s: float = 0.0,
    heard_s: float = 1.0,
) -> Sighting:
    return Sighting(replace(gateway(name, contact), heard_s=heard_s), state, came_s)


def observed_source(
    *,
    address: Document | None = None,
    status: Document | None = None,
    sightings: Iterable[Sighting] = (),
    contact: GatewayContact = GatewayContact.REACHABLE,
    gateways: tuple[GatewayView, ...] | None = None,
    **changes: Any,
) -> ObservedSource:
    """A source of the collection `sunday`, with its key, and two gateways; `contact` is the first one's."""
    given: dict[str, Any] = {
        "source": source(address, status, ownerReferences=[{"uid": "uid-sunday"}]),
        "collection": collection(),
        "key_stream": KEY_STREAM,
        "gateways": (gateway(contact=contact), gateway("ingest-1")) if gateways is None else gateways,
        "sightings": tuple(sightings),
    }
    return ObservedSource(**(given | changes))
