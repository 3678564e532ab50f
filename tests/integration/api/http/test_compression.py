"""Compressed responses."""

from __future__ import annotations

from tests.support.facade import User


def test_a_large_response_is_compressed_for_clients_that_want_it(anna: User) -> None:
    collection = anna.ok("POST", "/collection", {"metadata": {"text": "on air " * 3000}})
    path = f"/live/v2/collection/{collection['collection']['collectionId']}"
    responses = {
        coding: anna.facade.http.get(path, headers={**anna.headers, "Accept-Encoding": coding})
        for coding in ("gzip", "identity")
    }
    assert responses["gzip"].headers["Content-Encoding"] == "gzip"
    assert responses["gzip"].headers["Vary"].lower().count("accept-encoding") == 1
    assert "Content-Encoding" not in responses["identity"].headers
    assert responses["gzip"].json() == responses["identity"].json()
    sizes = {coding: int(response.headers["Content-Length"]) for coding, response in responses.items()}
    assert sizes["gzip"] < sizes["identity"] / 10


def test_a_small_response_is_not_compressed(anna: User) -> None:
    response = anna.facade.http.get(
        "/live/v2/collection", headers={**anna.headers, "Accept-Encoding": "gzip"}
    )
    assert response.json() == {"collections": []}
    assert "Content-Encoding" not in response.headers
