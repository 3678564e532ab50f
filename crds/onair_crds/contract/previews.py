"""What operator and facade request from the gateway of an ingest server about previews. Pure.

A preview is a participant of a room that shows a source. The gateway that has the source's stream publishes
it, for as long as it is told to; it decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from onair_crds.contract.wire_model import Secret, WireModel

PREVIEWS_PATH = "/v1/previews"
"""GET `PreviewRooms`. PUT `/v1/previews/{room}` `RoomPreviews`: all that this gateway is to publish into one
room; what is not named any more is ended, and without any the room is forgotten. 204, or 400."""
MAX_PREVIEWS = 1000
"""In one room."""

HLS_SUFFIX = "/hls"
"""After `STREAMS_PATH/<stream>`, before the playlist and the segments that it names; the token of
`reader_token` as bearer. The playlist waits for the first segment. 404: no such stream or segment; 503: none
yet."""
HLS_PLAYLIST = "index.m3u8"
FIRST_SEGMENT_S = 22.0
"""How long that takes at most: key frames may be 10 s apart, and a segment is from one to the next."""
PLAYLIST_TYPE, SEGMENT_TYPE = "application/vnd.apple.mpegurl", "video/mp2t"


class Preview(WireModel):
    """One participant."""

    identity: str
    """Also the participant id: the source's."""
    token: Secret
    """Admits it to the room. Another one is used for the next session."""


class RoomPreviews(WireModel):
    """All that a gateway is to publish into one room."""

    url: str
    """Of the room server: `ws://…` or `wss://…`."""
    opening: int
    """Of the room: in another one everything starts over, including what was refused in this one."""
    previews: Annotated[dict[str, Preview], Field(max_length=MAX_PREVIEWS)] = {}
    """By stream."""


class PreviewRooms(WireModel):
    """The rooms that a gateway publishes into."""

    rooms: list[str]
    """Those that this gateway was told to publish into."""


def preview_metadata(display_name: str, videos: Iterable[str] = ()) -> str:
    """What the others in a room read of a preview: always a JSON object.

    Args:
        videos: track ids of its video. Pages of the studio follow changes of tracks that are keys here.
    """
    name = {"displayName": display_name}
    return json.dumps({**name, **dict.fromkeys(videos, name)}, ensure_ascii=False, separators=(",", ":"))
