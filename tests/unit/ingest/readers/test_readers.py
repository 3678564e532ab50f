"""A stream is played again if the server ended it or sends no more of it; it ends with its publisher."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from tests.support.waiting import until

from onair_crds.contract.access_units import CLOSE_UNSUPPORTED, UnitKind
from onair_crds.rtmp.chunks import RtmpMessage
from onair_ingest.mediamtx.rtmp_player import MediaServer, PlayError
from onair_ingest.readers import readers as readers_module
from onair_ingest.readers.play_progress import STALLED_LOOKS
from onair_ingest.readers.readers import Readers, Undecodable
from onair_ingest.readers.stream_feed import FeedEnded
from onair_ingest.readers.timeline import BEGIN_MS

AAC_CONFIG, SOUND = b"\xaf\x00\x11\x90", b"\xaf\x01sound"
Play = list[int]
"""Times of the sounds of one play, in milliseconds."""


class ScriptedMediaServer:
    """Plays what a test says, and then ends the reader."""

    def __init__(
        self,
        *plays: Play,
        goes_after: int | None = None,
        undecodable_after: int | None = None,
        falls_silent: bool = False,
    ) -> None:
        """
        Args:
            falls_silent: the first play does not end, and nothing more of it comes.
        """
        self._plays: Iterator[Play] = iter(plays)
        self._left, self._undecodable_after = goes_after, undecodable_after
        self._falls_silent = falls_silent
        self.plays = 0
        self.is_published_on = True
        """Whether it receives more of the stream, whatever it plays of it."""
        self.asked = 0
        """How often it was asked how much it has received."""
        self.ended: FeedEnded | None = None
        """How its reader was told of the end."""

    @property
    def published(self) -> bool:
        return self._left != 0

    @property
    def undecodable(self) -> str | None:
        return "it has H265" if self.plays == self._undecodable_after else None

    def inbound_bytes(self, stream: str) -> int:
        self.asked += 1
        return self.asked * 1000 if self.is_published_on else 1000

    def player(self, server: MediaServer, path: str) -> ScriptedMediaServer:
        return self

    async def play(self, take: Callable[[RtmpMessage], None]) -> None:
        times = next(self._plays, [])
        self.plays += 1
        self._left = None if self._left is None else self._left - 1
        if times:
            take(RtmpMessage(8, 1, 0, AAC_CONFIG))
        for time_ms in times:
            take(RtmpMessage(8, 1, time_ms, SOUND))
        await asyncio.sleep(0)
        if self._falls_silent and self.plays == 1:
            await asyncio.Event().wait()
        raise PlayError("the media server ended the connection")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers_module, "AGAIN_S", 0.01)
    monkeypatch.setattr(readers_module, "LOOK_S", 0.001)


def readers_of(server: ScriptedMediaServer, monkeypatch: pytest.MonkeyPatch) -> Readers:
    monkeypatch.setattr(readers_module, "RtmpPlayer", server.player)
    return Readers(
        lambda stream: "live/key" if server.published else None,
        lambda stream: server.undecodable,
        server.inbound_bytes,
        MediaServer("127.0.0.1", 1),
        linger_s=5.0,
    )


async def sounds(monkeypatch: pytest.MonkeyPatch, server: ScriptedMediaServer) -> list[int]:
    """Times of what one reader gets up to the end, in milliseconds from its clock's begin."""
    readers = readers_of(server, monkeypatch)
    found = []
    async with readers.subscription("one") as subscription, asyncio.timeout(5):
        try:
            while True:
                record = await subscription.next_record()
                if record.kind is UnitKind.AUDIO:
                    found.append(record.dts_us // 1000 - BEGIN_MS)
        except FeedEnded as ended:
            server.ended = ended
    await readers.close()
    return found


async def test_a_stream_whose_times_went_back_goes_on_after_what_was_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = await sounds(monkeypatch, ScriptedMediaServer([5000, 5020, 5040], [3000, 3020]))
    assert times[:3] == [0, 20, 40]
    assert times[4] - times[3] == 20
    assert 40 < times[3] < 500, "what passed meanwhile passed on the clock"


async def test_a_server_that_plays_nothing_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ScriptedMediaServer([0, 20], [], [0, 20])
    assert await sounds(monkeypatch, server) == [0, 20]


async def test_a_stream_whose_publisher_is_gone_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await sounds(monkeypatch, ScriptedMediaServer([0, 20], [0, 20], goes_after=1)) == [0, 20]


async def test_readers_of_what_the_server_does_not_play_come_back_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They come back at once, as long as the stream is published."""
    monkeypatch.setattr(readers_module, "REFUSED_S", 0.2)
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    assert await sounds(monkeypatch, ScriptedMediaServer()) == []
    assert loop.time() - began_s >= 0.2


async def test_readers_of_what_was_played_learn_of_its_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers_module, "REFUSED_S", 60.0)
    assert len(await sounds(monkeypatch, ScriptedMediaServer([0, 20]))) == 2


async def test_what_no_page_decodes_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ScriptedMediaServer([0, 20], undecodable_after=0)
    with pytest.raises(Undecodable, match="it has H265"):
        await sounds(monkeypatch, server)
    assert server.plays == 0


async def test_a_stream_that_is_published_on_as_what_no_page_decodes_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = ScriptedMediaServer([0, 20], [40, 60], undecodable_after=1)
    assert await sounds(monkeypatch, server) == [0, 20]
    assert server.ended
    assert (server.ended.code, str(server.ended)) == (CLOSE_UNSUPPORTED, "it has H265")


async def test_a_stream_of_which_no_more_arrives_is_played_again_for_its_readers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = ScriptedMediaServer([0, 20], [40, 60, 80], falls_silent=True)
    assert len(await sounds(monkeypatch, server)) == 5
    assert server.plays == 3


async def test_a_stream_that_does_not_flow_is_not_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ScriptedMediaServer([0, 20], [40], falls_silent=True)
    server.is_published_on = False
    readers = readers_of(server, monkeypatch)
    async with readers.subscription("one"):
        await until(lambda: server.asked > 10 * STALLED_LOOKS, "the stream is looked at")
        assert server.plays == 1
    await readers.close()
