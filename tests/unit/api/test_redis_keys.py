"""Names of keys and channels in Redis."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from onair_api.redis_keys import RedisKeys
from onair_api.settings import RedisSettings


def names_of(keys: RedisKeys) -> list[str]:
    return [
        keys.absent,
        keys.numbers,
        keys.channel("user"),
        keys.recent("user"),
        *keys.of_a_service("service"),
        keys.batch("nonce"),
        keys.session("user", "session"),
        keys.room("left:session"),
        keys.counts("token"),
    ]


def test_replicas_of_earlier_versions_have_the_default_names() -> None:
    assert names_of(RedisSettings().keys) == [
        "onair:events:absent",
        "onair:events:numbers",
        "onair:events:user",
        "onair:events:recent:user",
        "onair:events:sizes:service",
        "onair:events:ends:service",
        "onair:events:total:service",
        "onair:batch:nonce",
        "onair:session:user:session",
        "onair:room:left:session",
        "onair/token",
    ]


def test_no_name_is_that_of_another_installation() -> None:
    ours, theirs = (RedisSettings(key_prefix=prefix).keys for prefix in ("onair", "onair-2"))
    assert set(names_of(ours)).isdisjoint(names_of(theirs))
    assert theirs.user_of(theirs.channel("user")) == "user"
    for prefix in ("onair:events", "onair/token", ""):
        with pytest.raises(ValidationError):
            RedisSettings(key_prefix=prefix)
