"""What a session of the public SDK must have got, wherever it ran."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.rooms.hosted_rooms import claims_of

LIVE_EVENTS = (
    "PROJECT EVENT_SUB_TYPE_UPDATE",
    "PROJECT EVENT_SUB_TYPE_STATE",
    "PROJECT EVENT_SUB_TYPE_DELETE",
    "SOURCE EVENT_SUB_TYPE_ADD",
    "SOURCE EVENT_SUB_TYPE_REMOVE",
    "DESTINATION EVENT_SUB_TYPE_CREATE",
)
REQUEST_METADATA = {"connectionId": "c1", "updateVersions": {"a": 1}}


def without_layout(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "layoutId"}


def check(report: dict[str, Any]) -> None:
    """What every client must have got."""
    assert "failed" not in report, report
    assert report["done"]
    assert report["none"] == {"collections": []}
    project = report["project"]
    assert project["webrtc"] == {"hosted": {"enabled": True}}
    assert project["rendering"]["video"]["framerate"] == pytest.approx(29.97)
    assert project["encoding"]["video"]["codec"] == "VIDEO_CODEC_H264"
    assert project["composition"]["studioSdk"]["version"] == "latest"
    assert report["updated"]["project"]["composition"]["studioSdk"]["version"] == "3.0.49"
    assert report["layout"]["type"] == "LAYOUT_TYPE_SCENELESS"

    layers = {layer["type"]: layer for layer in report["layers"][:2]}
    child = layers["child"]
    assert (child["x"], child["y"], child["width"]) == (40, 7, None)
    assert child["data"] == {"volume": 0}
    assert layers["root"]["children"] == [child["id"]]
    assert report["batch"]["requestAnimationMode"] == "REQUEST_ANIMATION_MODE_SERIES"
    animation = report["batch"]["layers"][0]["update"]["requestAnimation"]
    assert animation == [{"properties": ["x"], "durationMs": 300, "delayMs": 0, "easingMode": "linear"}]

    (first,) = report["first"]["collections"]
    (listed,) = first["projects"]
    assert [each["sourceId"] for each in (*first["sources"], *listed["sources"])] == [
        report["source"]["sourceId"]
    ] * 2
    assert [each["destinationId"] for each in listed["destinations"]] == [
        report["destination"]["destinationId"]
    ]
    assert listed["metadata"]["type"] == "sceneless"
    assert report["source"]["address"]["rtmpPush"]["url"]
    assert report["source"]["preview"]["webrtc"]["participantId"] == report["source"]["sourceId"]
    assert report["unforced"]["code"] == 9
    check_masks(report)

    assert report["guestProject"]["projectId"] == project["projectId"]
    assert report["guestProject"]["role"] == "ROLE_CONTRIBUTOR"
    assert report["guestSees"]["status"]["phase"] == "PROJECT_BROADCAST_PHASE_NOT_RUNNING"
    assert report["guestMayNot"]["code"] == 7
    assert report["code"]["linkUrl"].endswith(report["code"]["code"])
    assert report["code"]["targetUrl"] == "https://studio.example.org/join"
    assert [(code["code"], code["role"]) for code in report["codes"]] == [
        (report["code"]["code"], "ROLE_CONTRIBUTOR")
    ]
    assert report["broadcastId"] == report["status"]["broadcastId"]
    assert report["status"]["phase"] == "PROJECT_BROADCAST_PHASE_RUNNING"
    phases = [each["phase"].removeprefix("PROJECT_BROADCAST_PHASE_") for each in report["states"]]
    # An operator that is not of tests starts an encoder in between
    assert [each for each in phases if each != "STARTING"] == ["WAITING", "RUNNING", "STOPPING", "STOPPED"], (
        phases
    )
    assert {each["broadcastId"] for each in report["states"]} == {report["broadcastId"]}
    assert report["stopped"]["phase"] == "PROJECT_BROADCAST_PHASE_STOPPED"
    assert report["running"]["code"] == 9
    assert report["missing"]["code"] == 5

    assert {*report["liveEvents"]} >= {f"EVENT_TYPE_{each}" for each in LIVE_EVENTS}
    check_layer_events(report)
    assert report["deletions"][:2] == ["fulfilled", "fulfilled"], report["deletions"]


def check_connected(report: dict[str, Any]) -> None:
    """It was told that its source is connected."""
    ids = {name: report["project"][name] for name in ("collectionId", "projectId")}
    connected = {**ids, "sourceId": report["source"]["sourceId"], "connect": "CONNECT_STATE_CONNECTED"}
    assert connected in report["sourceStates"]


def check_masks(report: dict[str, Any]) -> None:
    """Each update of the destination had the new value of every field, and named one."""
    address, metadata, enabled = report["masked"]
    made = report["destination"]
    assert made["enabled"]
    assert made["metadata"] == {}
    new_address = {"rtmpPush": {"url": "rtmp://other.example/live", "key": "k-2"}}
    assert address == {**made, "address": new_address}
    assert metadata == {**address, "metadata": {"n": 1}}
    assert enabled == {**metadata, "enabled": False}


def check_room(report: dict[str, Any]) -> None:
    """A token that admits its bearer to the room."""
    access = report["room"]["webrtcAccess"]
    claims = claims_of(access["accessToken"])
    assert claims["sub"] == access["participantId"]
    assert claims["name"] == "Anna"
    assert json.loads(claims["metadata"]) == {"displayName": "Anna", "participantRole": "ROLE_HOST"}
    granted = claims["video"]
    assert granted["room"]
    assert granted["roomJoin"]
    assert granted["canPublish"]


def check_joined(report: dict[str, Any]) -> None:
    """It was in the room of its token, by the address that the SDK has built in."""
    access = report["room"]["webrtcAccess"]
    name = claims_of(access["accessToken"])["video"]["room"]
    assert report["joined"] == {"name": name, "identity": access["participantId"], "state": "connected"}


def check_layer_events(report: dict[str, Any]) -> None:
    """Pages take the fields of `requestMetadata` without looking whether it is there."""
    events: dict[str, list[Any]] = {}
    for each in report["layerEvents"]:
        (record,) = each["payload"].values()
        events.setdefault(each["subType"].removeprefix("EVENT_SUB_TYPE_"), []).append(record)
    records = [*events["CREATE"], *events["UPDATE"], *events["DELETE"], *events["BATCH"]]
    batched = [record for item in events["BATCH"][0]["layers"] for record in item.values()]
    assert all(isinstance(record["requestMetadata"], dict) for record in (*records, *batched))
    told = [events[kind][0]["requestMetadata"] for kind in ("CREATE", "UPDATE", "BATCH", "DELETE")]
    assert [without_layout(each) for each in told] == [REQUEST_METADATA] * 4
    assert events["CREATE"][1]["requestMetadata"] == {}
    assert all("children" in payload for payload in (*events["CREATE"], *events["UPDATE"]))
