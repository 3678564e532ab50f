"""Previews as the operator wants them, and who is in a room."""

from __future__ import annotations

import httpx
from pydantic import SecretStr
from tests.support.delivery.livekit_server import KEY, SECRET, LiveKitServer
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.plain_http import NO_TLS
from tests.support.rooms.member import Member
from tests.support.waiting import until

from onair_crds.contract.ingest_gateway import gateway_token, stream_of_key
from onair_crds.contract.previews import PREVIEWS_PATH, Preview, RoomPreviews
from onair_crds.contract.room_tokens import livekit_preview

SEEN_S = 60.0
"""A busy machine takes long to encode what is large."""


def preview(room: str, source: str, name: str = "Camera") -> Preview:
    token = livekit_preview(KEY, SECRET, room, source, name)
    return Preview(identity=source, token=SecretStr(token.get_secret_value()))


def want(
    pod: IngestPod, server: LiveKitServer, room: str, keys: dict[str, str], opening: int = 1
) -> httpx.Response:
    """Has a gateway publish streams into a room, by key, each as a source."""
    previews = {stream_of_key(key): preview(room, source) for key, source in keys.items()}
    body = RoomPreviews(url=server.url, opening=opening, previews=previews).wire()
    headers = {"Authorization": f"Bearer {gateway_token(pod.secret, 'operator')}"}
    return httpx.put(
        f"http://127.0.0.1:{pod.port}{PREVIEWS_PATH}/{room}", content=body, headers=headers, verify=NO_TLS
    )


async def seen(watching: Member, source: str, more: int = 30) -> list[tuple[int, int]]:
    """Waits until a participant has seen more pictures of a source; gives the sizes of all."""
    sizes = watching.sizes.setdefault(source, [])
    wanted = len(sizes) + more
    await until(lambda: len(sizes) >= wanted, f"{wanted} pictures of {source}", SEEN_S)
    return sizes
