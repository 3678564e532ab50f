"""Schemas of broadcasts."""

from __future__ import annotations

from onair_api.wire.schema import INTEGER, STRING, TIME, Schemas, enumeration, record, reference
from onair_crds.resources.enums import BroadcastError, BroadcastPhase, ImageFormat, Region


def broadcast_schemas() -> Schemas:
    """Schemas of the messages of broadcast operations, by name."""
    status = record(
        {
            "collectionId": STRING,
            "projectId": STRING,
            "broadcastId": STRING,
            "duration": {**INTEGER, "description": "Milliseconds from start to stop, or to now."},
            "start": TIME,
            "stop": TIME,
            "phase": enumeration(BroadcastPhase),
            "region": enumeration(Region),
            "datacenter": STRING,
            "error": {**enumeration(BroadcastError), "description": "Why the run ended by itself."},
            "reason": {
                **STRING,
                "description": "Why the broadcast is in this state: the reason of the project's"
                " condition OnAir where that is False, such as Slate, else of Ready, such as NoCapacity.",
            },
            "message": {**STRING, "description": "The same as a sentence. Not shown to GUEST and VIEWER."},
        },
        ("collectionId", "projectId", "phase"),
    )
    return {
        "BroadcastStatus": status,
        "BroadcastStatusResponse": record({"status": reference("BroadcastStatus")}),
        "StartBroadcastResponse": record({"broadcastId": STRING}),
        "SnapshotResponse": record(
            {"format": enumeration(ImageFormat), "image": {**STRING, "contentEncoding": "base64"}}
        ),
    }
