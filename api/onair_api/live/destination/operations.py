"""The operations on destinations."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS
from onair_api.live.destination.service import Destinations
from onair_api.operation import Flag, Operation

PATH = "/live/v2/collection/{collectionId}/project/{projectId}/destination"

DESTINATIONS = (
    Operation(
        name="CreateDestination",
        method="POST",
        path=PATH,
        access=ByAccessToken(COHOSTS),
        service=Destinations,
        serve=Destinations.create,
        tag="destinations",
        summary="Create a destination",
        description="Secrets of the address go into a Kubernetes Secret; only hosts and co-hosts can "
        "read them.",
        request="CreateDestinationRequest",
        example={"address": {"rtmpPush": {"url": "rtmps://a.rtmp.example.org/live2", "key": "abcd-1234"}}},
        response="DestinationResponse",
    ),
    Operation(
        name="GetDestination",
        method="GET",
        path=PATH + "/{destinationId}",
        access=ByAccessToken(CONTRIBUTORS),
        service=Destinations,
        serve=Destinations.get,
        tag="destinations",
        summary="Read a destination",
        description="Secrets are left out for everybody but hosts and co-hosts.",
        response="DestinationResponse",
    ),
    Operation(
        name="UpdateDestination",
        method="PATCH",
        path=PATH + "/{destinationId}",
        access=ByAccessToken(COHOSTS),
        service=Destinations,
        serve=Destinations.update,
        tag="destinations",
        summary="Change a destination",
        description="A secret that the mask does not name stays; one that it names and the body omits is "
        "removed.",
        request="UpdateDestinationRequest",
        example={"updateMask": "enabled", "enabled": False},
        response="UpdateDestinationResponse",
        contended=True,
    ),
    Operation(
        name="DeleteDestination",
        method="DELETE",
        path=PATH + "/{destinationId}",
        access=ByAccessToken(COHOSTS),
        service=Destinations,
        serve=Destinations.delete,
        tag="destinations",
        summary="Delete a destination",
        description="FAILED_PRECONDITION while it is enabled, unless forced.",
        query=(Flag("force", "Delete it although it is enabled. Default false."),),
        response="DeleteDestinationResponse",
        contended=True,
    ),
)
