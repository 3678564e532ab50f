"""Compressed responses."""

from __future__ import annotations

from tests.support.facade import User


def test_a_large_answer_is_compressed_for_clients_that_want_it(anna: User) -> None:
    collection = anna.ok("POST", "/collection", {"metadata": {"text": "on air " * 3000}})
    path = f"/live/v2/collection/{collection['collection']['collectionId']}"
    answers = {
        coding: anna.facade.http.get(path, headers={**anna.headers, "Accept-Encoding": coding})
        for coding in ("gzip", "identity")
    }
    assert answers["gzip"].headers["Content-Encoding"] == "gzip"
    assert answers["gzip"].headers["Vary"].lower().count("accept-encoding") == 1
    assert "Content-Encoding" not in answers["identity"].headers
    assert answers["gzip"].json() == answers["identity"].json()
    sizes = {coding: int(answer.headers["Content-Length"]) for coding, answer in answers.items()}
    assert sizes["gzip"] < sizes["identity"] / 10


def test_a_small_answer_is_not_compressed(anna: User) -> None:
    answer = anna.facade.http.get("/live/v2/collection", headers={**anna.headers, "Accept-Encoding": "gzip"})
    assert answer.json() == {"collections": []}
    assert "Content-Encoding" not in answer.headers
