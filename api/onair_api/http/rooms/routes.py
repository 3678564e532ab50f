"""The routes of rooms below `/webrtc/v2`, as LiveKit's clients know them."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import WebSocketRoute

from onair_api.http.rooms.administration import RoomAdministration, RoomValidation
from onair_api.http.rooms.signalling import RoomSignalling
from onair_api.http.rooms.webhooks import RoomWebhooks
from onair_api.http.routes import NamedRoute
from onair_api.live.room.room_admission import RoomAdmission
from onair_api.settings import LimitSettings
from onair_crds.contract.rooms import SIGNAL_PATH, WEBHOOK_PATH
from onair_crds.room_server.client import SERVICE

VERSIONS = ("", "/v1")
"""Forms of the join request; clients begin with the newest that they know."""


def install(app: FastAPI, admission: RoomAdmission, webhooks: RoomWebhooks, limits: LimitSettings) -> None:
    """Adds the routes of signalling, administration and webhooks of rooms to the application."""
    signalling, validation = RoomSignalling(admission), RoomValidation(admission)
    for version in VERSIONS:
        path = f"{SIGNAL_PATH}/rtc{version}"
        app.router.routes += [
            WebSocketRoute(path, signalling),
            NamedRoute(f"{path}/validate", validation, methods=["GET"]),
        ]
    administration = RoomAdministration(admission, limits)
    path = f"{SIGNAL_PATH}{SERVICE}{{method}}"
    app.router.routes.append(NamedRoute(path, administration, methods=["POST"]))
    app.router.routes.append(NamedRoute(WEBHOOK_PATH, webhooks, methods=["POST"]))
