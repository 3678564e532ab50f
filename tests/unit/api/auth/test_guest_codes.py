"""Guest codes: urls with tokens, names of Secrets."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import jwt
import pytest
from tests.support.turns import turns_of_others

from onair_api.auth.expiry import expires_annotation
from onair_api.auth.guest_codes import GuestCode, GuestCodes, secret_name, with_token
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import GUEST_CODE, PROJECT
from onair_crds.contract.labels import GUEST_CODE_LABEL
from onair_crds.kube.store import Entry
from onair_crds.runtime import steps

TOKEN = jwt.encode({"role": "ROLE_GUEST"}, "k" * 32)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example", "https://a.example?at=T"),
        ("https://a.example/x?b=1&flag#f", "https://a.example/x?b=1&flag&at=T#f"),
        ("https://a.example/?at=old&b=%20", "https://a.example/?b=%20&at=T"),
        (
            "https://b\u00fc.example/\u4e2d?q=%2F#\u00e9",
            "https://b%C3%BC.example/%E4%B8%AD?q=%2F&at=T#%C3%A9",
        ),
    ],
)
def test_the_token_is_a_parameter_of_the_url(url: str, expected: str) -> None:
    assert with_token(url, "T") == expected


def test_a_codes_name_tells_nothing_and_depends_on_the_service() -> None:
    names = {secret_name("studio", "abc"), secret_name("studi", "oabc"), secret_name("studio", "abd")}
    assert len(names) == 3
    assert all("abc" not in name and len(name) <= 63 for name in names)


class ProjectWithCodes:
    """A project and its guest codes, as the watches bring them."""

    def __init__(self) -> None:
        self.view = View()
        nothing: Any = None
        cluster: Any = SimpleNamespace(view=self.view)
        self.codes = GuestCodes(cluster, nothing, nothing, "https://api.example", nothing, nothing)
        metadata = {"name": "p", "uid": "p", "resourceVersion": "1"}
        project = self.view.put(PROJECT, {"metadata": metadata, "spec": {"collectionId": "c"}})
        assert project
        self.project: Entry = project

    def put(self, code: str, lasts: dt.timedelta = dt.timedelta(days=1), **data: str) -> None:
        stored = GuestCode("s", "c", "p", code, "https://a.example", TOKEN, f"t-{code}")
        metadata = {
            "name": f"secret-{code}",
            "uid": f"secret-{code}",
            "resourceVersion": str(self.view.size(GUEST_CODE) + 2),
            "labels": {GUEST_CODE_LABEL: "p"},
            "annotations": expires_annotation(dt.datetime.now(dt.UTC) + lasts),
        }
        self.view.put(GUEST_CODE, {"metadata": metadata, "data": {**stored.data(), **data}})

    async def shown(self) -> list[str]:
        return [each["code"] for each in await self.codes.of_project(self.project)]


async def test_a_project_of_many_codes_decodes_each_once_and_gives_way_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there, number = ProjectWithCodes(), 50
    for each in range(number):
        there.put(f"code-{each:02}")
    decode = Mock(side_effect=jwt.decode)
    monkeypatch.setattr(jwt, "decode", decode)
    monkeypatch.setattr(steps, "STEP_S", -1.0)  # gives way after each
    for _ in range(3):
        async with turns_of_others() as turns:
            assert len(await there.shown()) == number
        assert turns.taken >= number - 1
    assert decode.call_count == number
    there.put("another")
    assert len(await there.shown()) == number + 1
    assert decode.call_count == number + 1


async def test_a_code_that_was_shown_is_not_any_more_once_it_has_expired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = ProjectWithCodes()
    there.put("short", dt.timedelta(hours=1))
    there.put("long", dt.timedelta(hours=3))
    there.put("gone", dt.timedelta(hours=-1))
    there.put("broken", token="x")
    assert await there.shown() == ["long", "short"]
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=2)
    clock = Mock(wraps=dt, datetime=Mock(wraps=dt.datetime, now=lambda _: later))
    monkeypatch.setattr("onair_api.auth.guest_codes.dt", clock)
    assert await there.shown() == ["long"]
