"""Records and payloads without the addresses of servers and pages."""

from __future__ import annotations

import pytest

from onair_api.access.hidden_fields import payload_without_addresses, project_without_addresses
from onair_crds.shapes import JsonObject

SECRET = "k-5d2"


@pytest.mark.parametrize(
    ("composition", "left"),
    [
        ({"external": {"url": f"https://a.example/?t={SECRET}"}}, {"external": {}}),
        (
            {"scene": {"rendererUrl": f"https://a.example/{SECRET}", "debug": False}},
            {"scene": {"debug": False}},
        ),
        (
            {"studioSdk": {"rendererUrl": f"https://a.example/{SECRET}", "version": "1"}},
            {"studioSdk": {"version": "1"}},
        ),
    ],
)
@pytest.mark.parametrize(
    ("address", "left_of_address"),
    [
        ({"rtmpPush": {"url": f"rtmp://a.example/app/{SECRET}"}}, {"rtmpPush": {}}),
        ({"srtPush": {"url": f"srt://a.example:1?streamid={SECRET}"}}, {"srtPush": {}}),
        (
            {"objectStorage": {"bucket": "b", "endpoint": f"https://a.example/{SECRET}"}},
            {"objectStorage": {"bucket": "b"}},
        ),
        ({"rtcPlatform": {"appId": "a"}}, {"rtcPlatform": {"appId": "a"}}),
    ],
)
def test_the_kind_stays_and_the_address_goes(
    composition: JsonObject, left: JsonObject, address: JsonObject, left_of_address: JsonObject
) -> None:
    shown_destination = {"destinationId": "d", "address": left_of_address, "enabled": True}
    error = f"a.example:1935/{SECRET} refused the connection"
    destination = {**shown_destination, "address": address, "lastError": error}
    shown_source = {"sourceId": "s", "address": {"rtmpPull": {}}, "connect": "x"}
    source = {**shown_source, "lastError": error}
    project = {
        "projectId": "p",
        "composition": composition,
        "destinations": [destination],
        "sources": [source],
    }
    shown = {
        **project,
        "composition": left,
        "destinations": [shown_destination],
        "sources": [shown_source],
    }
    assert project_without_addresses(project) == shown
    assert payload_without_addresses({"project": {"update": {"projectId": "p", "project": project}}}) == {
        "project": {"update": {"projectId": "p", "project": shown}}
    }
    assert payload_without_addresses({"destination": {"create": {"destination": destination}}}) == {
        "destination": {"create": {"destination": shown_destination}}
    }
    assert payload_without_addresses({"source": {"update": {"source": source}}}) == {
        "source": {"update": {"source": shown_source}}
    }


def test_why_a_broadcast_is_as_it_is_is_told_in_a_word() -> None:
    state = {"projectId": "p", "broadcastId": "b", "reason": "CompositionUnreachable"}
    told = {"project": {"state": {**state, "message": f"a.example/{SECRET}: name not found"}}}
    assert payload_without_addresses(told) == {"project": {"state": state}}


@pytest.mark.parametrize(
    "payload",
    [
        {"destination": {"state": {"destinationId": "d", "connect": "x"}}},
        {"project": {"delete": {"projectId": "p"}}},
        {"layer": {"batch": {"layers": []}}},
        {"source": {"state": {"sourceId": "s", "connect": "x"}}},
    ],
)
def test_what_has_no_address_is_sent_as_it_is(payload: JsonObject) -> None:
    assert payload_without_addresses(payload) is payload
