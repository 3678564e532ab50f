"""A misspelled field over HTTP."""

from __future__ import annotations

from tests.support.facade import User


def test_an_unknown_field_is_ignored_and_named(anna: User) -> None:
    show = anna.project()
    response = anna.call("PATCH", show.path, {"rendring": {"video": {"width": 640}}, "metadata": 1})
    assert response.status_code == 200
    assert response.headers["Warning"] == '299 - "unknown field rendring is ignored"'
    assert response.json()["project"]["metadata"] == 1


def test_what_was_read_is_written_back_without_a_warning(anna: User) -> None:
    show = anna.project()
    destination = show.destination()
    path = f"{show.path}/destination/{destination['destinationId']}"
    for at, record in ((show.path, show.get()["project"]), (path, anna.ok("GET", path)["destination"])):
        response = anna.call("PATCH", at, record)
        assert response.status_code == 200, response.text
        assert "Warning" not in response.headers
