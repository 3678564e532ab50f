"""A media server that says anything: its stream is played, or there is a reason why not."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onair_crds.rtmp import amf
from onair_crds.rtmp.chunks import COMMAND_AMF0, SET_CHUNK_SIZE, USER_CONTROL, message_chunks
from onair_ingest.mediamtx import rtmp_player
from onair_ingest.mediamtx.rtmp_player import MediaServer, PlayError, RtmpPlayer

HANDSHAKE_BYTES = 1536
TYPES = st.sampled_from([SET_CHUNK_SIZE, USER_CONTROL, COMMAND_AMF0, 8, 9, 18, 255])
COMMANDS = st.tuples(
    st.sampled_from(["_result", "_error", "onStatus"]),
    st.sampled_from([1.0, 2.0]),
    st.none() | st.just({"level": "error"}),
    st.floats() | st.text(max_size=3),
).map(lambda values: (COMMAND_AMF0, amf.encode(*values)))
MESSAGES = st.lists(COMMANDS | st.tuples(TYPES, st.binary(max_size=20)), max_size=5)


async def played(said: bytes, *later: bytes, later_s: float = 0.0) -> int | None:
    """How many messages a player took of a server that says this and ends; None where it was told why not.

    Args:
        later: what the server says then, each after `later_s`.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1 + HANDSHAKE_BYTES)
        writer.write(b"\x03" + bytes(2 * HANDSHAKE_BYTES) + said)
        await reader.readexactly(HANDSHAKE_BYTES)
        for each in later:
            await asyncio.sleep(later_s)
            writer.write(each)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        taken: list[object] = []
        try:
            await RtmpPlayer(MediaServer("127.0.0.1", port), "live/a").play(taken.append)
        except PlayError:
            return None
        return len(taken)


@pytest.mark.fuzz
@settings(max_examples=settings().max_examples // 2)
@given(
    MESSAGES.map(lambda found: b"".join(b"".join(message_chunks(3, t, 0, 0, b, 128)) for t, b in found))
    | st.binary(max_size=60)
)
@example(b"".join(message_chunks(3, COMMAND_AMF0, 0, 0, amf.encode("_result", 2.0, None, float("inf")))))
@example(b"".join(message_chunks(3, COMMAND_AMF0, 0, 0, amf.encode("_result", 2.0, None, -1.0))))
def test_whatever_a_server_says_is_played_or_refused(said: bytes) -> None:
    asyncio.run(played(said))


AUDIO = b"".join(message_chunks(4, 8, 0, 1, b"\xaf\x01sound"))
STARTED = b"".join(
    message_chunks(3, COMMAND_AMF0, 0, 1, amf.encode("onStatus", 0.0, None, {"level": "status"}))
)
CONNECTED = b"".join(message_chunks(3, COMMAND_AMF0, 0, 0, amf.encode("_result", 1.0, None, {})))


@pytest.mark.parametrize(
    ("said", "taken"),
    [(b"", None), (CONNECTED, None), (STARTED, 1), (AUDIO, 2)],
    ids=["nothing", "connected", "started", "media"],
)
async def test_a_server_has_to_respond_in_time_up_to_its_response_to_play(
    said: bytes, taken: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtmp_player, "OPEN_TIMEOUT_S", 0.5)
    async with asyncio.timeout(10):
        assert await played(said, AUDIO, later_s=1.0) == taken


@pytest.mark.parametrize("authority", ["127.0.0.1:1936", "[2001:db8::1]:1936", "media.example.org:1936"])
def test_a_server_is_named_as_its_url_names_it(authority: str) -> None:
    assert MediaServer.at(f"rtmp://{authority}/live", "").authority == authority
