"""Identities of those who join a room."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.settable_clock import SettableClock

from onair_api.errors import ResourceExhausted
from onair_api.live.room.join_identities import (
    MOST_JOINS,
    MOST_WATCHING,
    REMEMBERED_S,
    RESERVED_S,
    JoinIdentities,
)
from onair_api.live.room.kept_values import KeptValues
from onair_api.settings import RedisSettings

ROOM = "room:1"


@pytest.fixture
def joins() -> JoinIdentities:
    return JoinIdentities(KeptValues(RedisSettings()))


async def test_in_memory_values_live_as_long_as_each_may() -> None:
    clock = SettableClock(100.0)
    values = KeptValues(RedisSettings(), clock)
    for key, life_s in (("short", 10), ("long", 20)):
        await values.put(key, "value", life_s)
    clock.now += 10
    assert [await values.get(key) for key in ("short", "long")] == [None, "value"]
    await values.put("long", "another", 5)
    clock.now += 5
    assert await values.get("long") is None


def nobody(_: str) -> bool:
    return False


async def test_a_reload_with_the_same_token_takes_its_identity_over(joins: JoinIdentities) -> None:
    assert await joins.assign(ROOM, "anna", "t1", (), nobody) == "anna"
    assert await joins.assign(ROOM, "anna", "t1", {"anna"}, nobody) == "anna"


async def test_nothing_is_left_of_each_token() -> None:
    """A user may have any number of them in the day for which identities are remembered."""
    clock = SettableClock(100.0)
    values = KeptValues(RedisSettings(), clock)
    joins = JoinIdentities(values)
    for number in range(20):
        assert await joins.assign(ROOM, "anna", f"t{number}", (), nobody) == "anna"
        clock.now += RESERVED_S
    assert sorted(values._memory) == [f"{ROOM}:by:anna", f"{ROOM}:lineage:anna"]
    clock.now += REMEMBERED_S - 2 * RESERVED_S
    assert await joins.assign(ROOM, "anna", "t19", {"anna"}, nobody) == "anna", "it is known for a day"


async def test_another_token_of_the_user_gets_the_lowest_free_number(joins: JoinIdentities) -> None:
    for token, expected in (("t1", "anna"), ("t2", "anna#2"), ("t3", "anna#3")):
        assert await joins.assign(ROOM, "anna", token, (), nobody) == expected
    assert await joins.assign(ROOM, "anna", "t2", {"anna", "anna#2"}, nobody) == "anna#2"


async def test_tokens_made_at_the_same_time_get_different_identities(joins: JoinIdentities) -> None:
    made = await asyncio.gather(*(joins.assign(ROOM, "anna", f"t{n}", (), nobody) for n in range(20)))
    assert len(set(made)) == 20


async def test_who_is_in_the_room_is_not_thrown_out_by_another_token(joins: JoinIdentities) -> None:
    assert await joins.assign(ROOM, "anna", "t9", {"anna", "anna#2"}, nobody) == "anna#3"


async def test_a_barred_identity_is_not_given_again(joins: JoinIdentities) -> None:
    assert await joins.assign(ROOM, "anna", "t1", (), nobody) == "anna"
    assert await joins.assign(ROOM, "anna", "t1", (), lambda each: each == "anna") == "anna#2"


async def test_another_opening_of_the_room_begins_afresh(joins: JoinIdentities) -> None:
    await joins.assign(ROOM, "anna", "t1", (), nobody)
    assert await joins.assign("room:2", "anna", "t2", (), nobody) == "anna"
    assert await joins.token_of(ROOM, "anna") == "t1"
    assert await joins.token_of("room:2", "anna") == "t2"


async def test_the_lineage_of_an_identity_is_that_of_who_has_it_now(joins: JoinIdentities) -> None:
    assert await joins.lineage_of(ROOM, "anna") is None
    await joins.assign(ROOM, "anna", "t1", (), nobody, "of t1")
    await joins.assign(ROOM, "anna", "t2", {"anna"}, nobody, "of t2")
    assert [await joins.lineage_of(ROOM, each) for each in ("anna", "anna#2")] == ["of t1", "of t2"]
    assert await joins.lineage_of("room:2", "anna") is None


async def test_a_user_joins_so_often_and_no_oftener(joins: JoinIdentities) -> None:
    """Far below what fills the list of a room; who only watches says less, and may be an audience."""
    assert MOST_JOINS <= 50
    assert MOST_WATCHING <= 200
    made = {await joins.assign(ROOM, "eve", f"t{n}", (), nobody) for n in range(MOST_JOINS)}
    assert len(made) == MOST_JOINS
    with pytest.raises(ResourceExhausted):
        await joins.assign(ROOM, "eve", "another", (), nobody)
    assert await joins.assign(ROOM, "eve", "t7", (), nobody) in made
    assert await joins.assign(ROOM, "ben", "another", (), nobody) == "ben"
    assert await joins.assign(ROOM, "eve", "watches", (), nobody, most=MOST_WATCHING) not in made
