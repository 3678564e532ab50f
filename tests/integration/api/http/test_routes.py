"""Paths and methods that exist, and that do not."""

from __future__ import annotations

import pytest
from tests.support.facade import FacadeThread, User
from tests.support.tokens import assert_error


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "UPPER",
        "%2e%2e",
        "a%2Fb",
        "a%00b",
        "%F0%9F%8E%A5",
        "-a",
        "a" * 64,
        "a" * 5000,
        "a%0ab",
        "*",
        "a b",
        "%ff",
    ],
)
def test_an_id_that_cannot_be_is_not_found(anna: User, name: str) -> None:
    show = anna.project()
    for path in (
        f"/collection/{name}",
        f"/collection/{show.collection}/project/{name}",
        f"{show.path}/destination/{name}",
    ):
        for method in ("GET", "PATCH", "DELETE"):
            response = anna.call(method, path, {} if method == "PATCH" else None)
            assert response.status_code in (404, 405), (path, response.text)
            assert response.json()["code"] in (5, 12)


def test_unknown_paths_and_methods(facade: FacadeThread, anna: User) -> None:
    assert_error(anna.call("GET", "/nothing/here"), 404, 5)
    assert_error(facade.http.get("/live/v2/nothing"), 404, 5)
    response = anna.call("PUT", "/collection")
    assert_error(response, 405, 12)
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS, POST"


def test_head_is_get_without_a_body(anna: User) -> None:
    show = anna.project()
    full, head = anna.call("GET", show.path), anna.call("HEAD", show.path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(full.content))
    assert anna.call("GET", show.path).content == full.content, "the connection goes on"
