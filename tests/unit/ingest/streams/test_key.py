"""The stream key that a publisher shows."""

from __future__ import annotations

import pytest

from onair_ingest.streams.key import key_of, key_of_path


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("live/abc", "abc"),
        ("abc", "abc"),
        ("live//abc", "abc"),
        ("/live/abc/", "abc"),
        ("live", None),
        ("", None),
        ("live/abc/more", None),
        ("other/abc", None),
        ("pull/abc", None),
    ],
)
def test_a_path_has_a_key_below_the_application_or_is_one(path: str, key: str | None) -> None:
    assert key_of_path(path) == key


@pytest.mark.parametrize(
    ("shown", "key"),
    [
        ({"query": "token=t"}, "t"),
        ({"query": "user=u&pass=p"}, "p"),
        ({"query": "user=u"}, "u"),
        ({"user": "u"}, "u"),
        ({"user": "u", "password": "p"}, "p"),
        ({"user": "u", "password": "p", "token": "t"}, "t"),
        ({"query": "latency=1"}, "path-key"),
        ({"query": "token="}, "path-key"),
        ({"query": "token=" + "x" * 513}, None),
    ],
)
def test_an_explicit_key_comes_before_the_paths(shown: dict[str, str], key: str | None) -> None:
    assert key_of("live/path-key", **shown) == key
