"""What is an answer of an X server's or of PulseAudio's, as far as both protocols can be played."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from onair_encoder.browser.server_connection import PulseConnection, ServerConnection, XConnection

X_FOCUS = bytes([1]) + bytes(31)
X_MAPPING_NOTIFY = bytes([34]) + bytes(31)
SILENT_S = 0.2

Played = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def greet_as_x(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert await reader.readexactly(12) == b"l\0" + struct.pack("<5H", 11, 0, 0, 0, 0)
    writer.write(struct.pack("<BxHHH", 1, 11, 0, 2) + bytes(8))


async def focus_as_x(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert await reader.readexactly(4) == b"\x2b\0\1\0"
    writer.write(X_MAPPING_NOTIFY + X_FOCUS)


async def auth_as_pulse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    length, *_ = struct.unpack(">IIQI", await reader.readexactly(20))
    command = await reader.readexactly(length)
    assert command[:5] == b"L" + struct.pack(">I", 8)
    reply = b"L" + struct.pack(">I", 2) + b"L" + struct.pack(">I", 0) + b"L" + struct.pack(">I", 35)
    writer.write(struct.pack(">IIQI", len(reply), 0xFFFFFFFF, 0, 0) + reply)


@asynccontextmanager
async def server(path: Path, *turns: Played) -> AsyncIterator[None]:
    """Takes each turn once in a connection, then says nothing more."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for turn in turns:
            await turn(reader, writer)
        await reader.read()
        writer.close()

    async with await asyncio.start_unix_server(serve, path):
        yield


@pytest.mark.parametrize(
    ("kind", "turns"),
    [(XConnection, (greet_as_x, focus_as_x, focus_as_x)), (PulseConnection, (auth_as_pulse, auth_as_pulse))],
)
async def test_a_live_server_is_asked_on_one_connection_and_a_silent_one_does_not_answer(
    kind: Callable[[Path], ServerConnection], turns: tuple[Played, ...], tmp_path: Path
) -> None:
    async with server(tmp_path / "socket", *turns):
        connection = kind(tmp_path / "socket")
        async with asyncio.timeout(10):
            await connection.ask()
            await connection.ask()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SILENT_S):
                await connection.ask()
        # What is asked next is asked on a new connection
        async with asyncio.timeout(10):
            await connection.ask()
        connection.close()


@pytest.mark.parametrize("kind", [XConnection, PulseConnection])
async def test_a_server_that_closes_the_connection_has_not_answered_and_is_asked_again(
    kind: Callable[[Path], ServerConnection], tmp_path: Path
) -> None:
    async def leave(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    connection = kind(tmp_path / "socket")
    async with server(tmp_path / "socket", leave):
        for _ in range(2):
            with pytest.raises((OSError, EOFError)):
                await connection.ask()


async def test_an_x_server_without_room_for_another_client_has_not_answered(tmp_path: Path) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(struct.pack("<BBHHH", 0, 8, 11, 0, 2) + b"too many")

    async with server(tmp_path / "socket", refuse):
        with pytest.raises(ConnectionRefusedError):
            await XConnection(tmp_path / "socket").ask()


@pytest.mark.parametrize("kind", [XConnection, PulseConnection])
async def test_a_server_that_accepts_nobody_does_not_answer_however_many_wait(
    kind: Callable[[Path], ServerConnection], tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "socket"))
        deaf.listen(1)
        connections = [kind(tmp_path / "socket") for _ in range(4)]
        for connection in connections:
            with pytest.raises((TimeoutError, OSError)):
                async with asyncio.timeout(SILENT_S):
                    await connection.ask()
