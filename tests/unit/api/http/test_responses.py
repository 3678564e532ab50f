"""Responses of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.http.responses import JsonResponse, prefers_json, responder
from onair_api.operation import ResponseKind

JPEG = b"\xff\xd8\xff"


def scope(accept: bytes | None = None) -> dict[str, Any]:
    return {"headers": [(b"accept", accept)] if accept is not None else []}


def test_a_message_is_json_and_json_bytes_stay_as_they_are() -> None:
    respond = responder(ResponseKind.MESSAGE)
    assert respond({"a": 2**80}, scope()).body == b'{"a":1208925819614629174706176}'
    assert respond(b'{"b": 1}', scope()).body == b'{"b": 1}'
    assert isinstance(respond([], scope()), JsonResponse)


def test_an_image_is_shown_as_bytes_or_as_a_record() -> None:
    message = {"format": "IMAGE_FORMAT_JPEG", "image": JPEG}
    respond = responder(ResponseKind.IMAGE)
    image, record = respond(message, scope()), respond(message, scope(b"application/json"))
    assert (image.body, image.media_type) == (JPEG, "image/jpeg")
    assert record.body == b'{"format":"IMAGE_FORMAT_JPEG","image":"/9j/"}'
    assert image.headers["Cache-Control"] == record.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("accept", "json"),
    [
        ("", False),
        ("*/*", False),
        ("application/json", True),
        ("text/html, application/json;q=0.9", True),
        ("application/json, image/*", False),
    ],
)
def test_json_is_preferred_where_it_is_named_and_no_image_is(accept: str, json: bool) -> None:
    assert prefers_json(accept) is json


def test_a_token_is_in_the_header_alone() -> None:
    response = responder(ResponseKind.TOKEN)({"accessToken": "t"}, scope())
    assert (response.body, response.headers["Authorization"]) == (b"{}", "Bearer t")


def test_a_redirect_is_kept_by_no_cache_and_passed_on_to_no_page() -> None:
    response = responder(ResponseKind.REDIRECT)({"location": "https://a.example/?at=t"}, scope())
    assert (response.status_code, response.headers["Location"]) == (302, "https://a.example/?at=t")
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["Cache-Control"] == "no-store"
