"""Hosted rooms: a real LiveKit server behind facades, as the chart configures both."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import httpx
import jwt
from tests.support.delivery.livekit_server import KEY, SECRET, LiveKitServer
from tests.support.facade import FacadeThread, Show, StoredResources, User

from onair_api.settings import RoomSettings
from onair_crds.contract.rooms import API_KEY, API_SECRET, SECRET_NAME, SIGNAL_PATH
from onair_crds.shapes import Claims, JsonObject

HOSTED: JsonObject = {"webrtc": {"hosted": {}}}


def room_server(folder: Path, **settings: Any) -> LiveKitServer:
    """A server in which rooms come to be only where this service opens them."""
    return LiveKitServer(folder, room={"auto_create": False}, **settings)


def add_credentials(resources: StoredResources) -> None:
    """The Secret that the operator makes."""
    path = f"/api/v1/namespaces/{resources.release}/secrets"
    if resources.admin.get(f"{path}/{SECRET_NAME}").is_success:
        return
    data = {API_KEY: KEY, API_SECRET: SECRET}
    document = {
        "metadata": {"name": SECRET_NAME},
        "data": {name: base64.b64encode(value.encode()).decode() for name, value in data.items()},
    }
    resources.admin.post(path, json=document).raise_for_status()


def settings_for(server: LiveKitServer, token_s: int = 300) -> RoomSettings:
    return RoomSettings(url=server.http_url, token_s=token_s)


def signal_url(facade: FacadeThread) -> str:
    """What a LiveKit client is given as its url."""
    return facade.url.replace("http://", "ws://") + SIGNAL_PATH


def join(show: Show, user: User | None = None, **body: Any) -> tuple[str, str]:
    """A token of the show's room, and the identity in it."""
    body.setdefault("displayName", "Anna")
    access = (user or show.user).ok("POST", f"{show.path}/webrtc/token", body)["webrtcAccess"]
    return access["accessToken"], access["participantId"]


def claims_of(token: str) -> Claims:
    claims: Claims = jwt.decode(token, SECRET, algorithms=["HS256"])
    return claims


def guest(show: Show, role: str = "ROLE_GUEST", name: str = "", **more: Any) -> User:
    """A guest of the show with a token of their own."""
    direct = {"displayName": name or "Guest", **({"serviceUserId": name} if name else {})}
    body = {"collectionId": show.collection, "projectId": show.id, "role": role, "token": {"direct": direct}}
    token = show.user.ok("POST", "/authentication/token/guest", {**body, **more})["accessToken"]
    return User(show.user.facade, token)


def room_of(token: str) -> str:
    return str(claims_of(token)["video"]["room"])


def administer(facade: FacadeThread, token: str, method: str, **body: Any) -> httpx.Response:
    """An operation of the room server's own interface, with a token of the room, through the facade."""
    body.setdefault("room", room_of(token))
    url = f"{SIGNAL_PATH}/twirp/livekit.RoomService/{method}"
    return facade.http.post(url, json=body, headers={"Authorization": f"Bearer {token}"})


def validate(facade: FacadeThread, token: str) -> httpx.Response:
    """What a client asks when its WebSocket was refused."""
    return facade.http.get(f"{SIGNAL_PATH}/rtc/validate", params={"access_token": token})
