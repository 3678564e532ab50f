"""The operations on destinations."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS
from onair_api.live.destination.service import Destinations
from onair_api.operation import Docs, Errors, Flag, Http, Messages, Operation, Rpc, ServiceMethod

PATH = "/live/v2/collection/{collectionId}/project/{projectId}/destination"
SERVICE = "live.v21.DestinationService"

DESTINATIONS = (
    Operation(
        name="CreateDestination",
        http=Http("POST", PATH),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Destinations, Destinations.create),
        messages=Messages(
            "CreateDestinationRequest",
            "DestinationResponse",
            example={
                "address": {"rtmpPush": {"url": "rtmps://a.rtmp.example.org/live2", "key": "abcd-1234"}}
            },
        ),
        docs=Docs(
            "destinations",
            "Create a destination",
            "Secrets of the address are stored in a Kubernetes Secret; only hosts and co-hosts see them.",
        ),
    ),
    Operation(
        name="GetDestination",
        http=Http("GET", PATH + "/{destinationId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Destinations, Destinations.get),
        messages=Messages(None, "DestinationResponse"),
        docs=Docs("destinations", "Read a destination", "Secrets are shown only to hosts and co-hosts."),
    ),
    Operation(
        name="UpdateDestination",
        http=Http("PATCH", PATH + "/{destinationId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Destinations, Destinations.update),
        messages=Messages(
            "UpdateDestinationRequest",
            "UpdateDestinationResponse",
            example={"updateMask": "enabled", "enabled": False},
        ),
        docs=Docs(
            "destinations",
            "Change a destination",
            "A secret that the mask does not name stays; one that it names and the body omits is removed.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="DeleteDestination",
        http=Http("DELETE", PATH + "/{destinationId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Destinations, Destinations.delete),
        messages=Messages(
            None,
            "DeleteDestinationResponse",
            query=(Flag("force", "Delete it even if it is enabled."),),
        ),
        docs=Docs(
            "destinations", "Delete a destination", "FAILED_PRECONDITION while it is enabled, unless forced."
        ),
        errors=Errors(contended=True),
    ),
)
