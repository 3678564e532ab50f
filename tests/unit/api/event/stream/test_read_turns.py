"""Who parses when many connections receive much at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable

from tests.support.waiting import until

from onair_api.event.stream.read_turns import ROUND_S, ReadTurns

PIECE_S = ROUND_S / 4
CROWD = 40


class Pieces:
    """Takes a while for each piece."""

    def __init__(self, owner: Hashable, count: int, order: list[Hashable], takes_s: float = PIECE_S) -> None:
        self.reads_for = owner
        self._left, self._order, self._takes_s = count, order, takes_s

    def parse_piece(self) -> bool:
        ends = time.monotonic() + self._takes_s
        while time.monotonic() < ends:
            pass
        self._order.append(self.reads_for)
        self._left -= 1
        return self._left > 0


async def test_what_is_alone_is_parsed_at_once() -> None:
    order: list[Hashable] = []
    ReadTurns().add(Pieces("a", 1, order))
    assert order == ["a"]


async def test_a_round_parses_for_a_bounded_time_however_many_connections_there_are() -> None:
    order: list[Hashable] = []
    turns = ReadTurns()
    for _ in range(CROWD):
        turns.add(Pieces("crowd", 2, order))
    assert len(order) <= ROUND_S / PIECE_S
    before, rounds = len(order), 0
    while len(order) < 2 * CROWD:
        await asyncio.sleep(0)
        rounds += 1
        assert len(order) - before <= ROUND_S / PIECE_S
        before = len(order)
    assert rounds >= 2 * CROWD / (ROUND_S / PIECE_S) - 1


async def test_owners_take_turns_whoever_has_most() -> None:
    order: list[Hashable] = []
    turns = ReadTurns()
    for _ in range(CROWD):
        turns.add(Pieces("crowd", 10, order))
    turns.add(Pieces("quiet", 1, order, takes_s=0))
    began = len(order)
    await until(lambda: "quiet" in order)
    assert order.index("quiet") - began <= 1


async def test_pieces_of_one_connection_keep_their_owners_place() -> None:
    order: list[Hashable] = []
    turns = ReadTurns()
    turns.add(Pieces("a", 3, order, takes_s=ROUND_S))
    turns.add(Pieces("b", 3, order, takes_s=ROUND_S))
    await until(lambda: len(order) == 6)
    assert order == ["a", "a", "b", "a", "b", "b"]
