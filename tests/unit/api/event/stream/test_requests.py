"""Requests of a stream's client, decoded."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.access.target import Target
from onair_api.errors import InvalidArgument
from onair_api.event.stream.requests import (
    BadRequest,
    StreamRequest,
    decode_ping,
    decode_request,
    decode_subscription,
    requests_of_query,
)
from onair_api.settings import LimitSettings

LIMITS = LimitSettings()


def test_a_message_has_one_request_and_an_optional_correlation_id() -> None:
    assert decode_request('{"ping":"a","correlationId":"c"}', LIMITS) == StreamRequest("c", "ping", "a")
    assert decode_request(b'{"ping":"a","correlation_id":"c"}', LIMITS) == StreamRequest("c", "ping", "a")
    assert decode_request('{"ping":"a","publish":null}', LIMITS) == StreamRequest(None, "ping", "a")


@pytest.mark.parametrize(
    ("text", "correlation_id"),
    [
        ("", None),
        ("[]", None),
        ('{"correlationId":"c"}', "c"),
        ('{"correlationId":"c","ping":"a","publish":{}}', "c"),
        ('{"correlationId":5,"ping":"a"}', None),
        ('{"correlationId":"%s","ping":"a"}' % ("x" * 1025), None),
        ('{"ping":' + "[" * 200 + "]" * 200 + "}", None),
    ],
)
def test_a_bad_message_keeps_its_correlation_id_where_it_has_a_valid_one(
    text: str, correlation_id: str | None
) -> None:
    with pytest.raises(BadRequest) as caught:
        decode_request(text, LIMITS)
    assert caught.value.correlation_id == correlation_id


def test_a_query_has_requests_of_each_kind() -> None:
    query = {
        "subscribe.name": "a",
        "subscribe.target.projectId": "p",
        "publish.name": "b",
        "ping": "",
        "correlationId": "c",
        "sessionId": "ignored",
    }
    assert requests_of_query(query) == [
        StreamRequest("c", "subscribe", {"target": {"projectId": "p"}, "name": "a"}),
        StreamRequest("c", "publish", {"target": {}, "name": "b", "payload": {}}),
        StreamRequest("c", "ping", ""),
    ]


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        (5, ["subscribe"]),
        ({}, ["subscribe.name"]),
        ({"name": "x" * 1025}, ["subscribe.name"]),
        ({"name": "|".join("a" * 65)}, ["subscribe.name"]),
        ({"name": 1, "target": {"projectId": 2}}, ["subscribe.name", "subscribe.target.projectId"]),
        ({"name": "a", "target": "c"}, ["subscribe.target"]),
    ],
)
def test_a_bad_subscription_names_every_wrong_field(value: Any, fields: list[str]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        decode_subscription(value, "subscribe")
    assert [each.field for each in caught.value.violations] == fields


def test_a_targets_ids_come_in_either_spelling_and_empty_ones_count_as_none() -> None:
    target = {"collection_id": "c", "projectId": "p", "layoutId": ""}
    assert decode_subscription({"name": "*", "target": target}, "subscribe") == ("*", Target("c", "p"))


def test_a_ping_is_a_string_of_bounded_length() -> None:
    assert decode_ping("") == ""
    for value in (None, 5, "x" * 1025):
        with pytest.raises(InvalidArgument):
            decode_ping(value)
