"""Schemas of hosted WebRTC rooms."""

from __future__ import annotations

from onair_api.live.room.request import MAX_DISPLAY_NAME
from onair_api.wire.schema import STRING, Schemas, optional, record


def room_schemas() -> Schemas:
    """Schemas of the messages of room operations, by name."""
    name = {**STRING, "maxLength": MAX_DISPLAY_NAME}
    access = record({"accessToken": STRING, "participantId": STRING}, ("accessToken",))
    return {
        "CreateWebRtcAccessTokenRequest": {
            **optional({"displayName": name, "participantMetadata": {}}),
            "required": ["displayName"],
        },
        "CreateWebRtcAccessTokenResponse": record({"webrtcAccess": access}),
    }
