"""Whose connections there are goes on to the next process by a file, without a key."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.waiting import until

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_ingest.mediamtx.client import MediaMtx
from onair_ingest.streams.connection_identity import ConnectionIdentity, Identities
from onair_ingest.streams.identity_file import keep_identities, read_identities

KEY = "the-key-of-a-stream"
STREAM = stream_of_key(KEY)


@contextlib.asynccontextmanager
async def kept(path: Path) -> AsyncIterator[Identities]:
    identities = Identities(object.__new__(MediaMtx), await read_identities(path))
    keeping = asyncio.create_task(keep_identities(path, identities))
    try:
        yield identities
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])


async def test_the_next_process_knows_what_this_one_admitted_last(tmp_path: Path) -> None:
    path = tmp_path / "connections.json"
    async with kept(path) as identities:
        assert not identities.known
        for number in range(20):
            identities.admitted(f"c{number}", STREAM, "203.0.113.40")
            await asyncio.sleep(0)
        identities.forget("c0")
        await until(
            lambda: path.exists() and b"c19" in path.read_bytes() and b'"c0"' not in path.read_bytes()
        )
    assert KEY.encode() not in path.read_bytes()
    async with kept(path) as identities:
        assert list(identities.known) == [f"c{number}" for number in range(1, 20)]
        assert identities.known["c1"] == ConnectionIdentity(STREAM, "203.0.113.40")


@pytest.mark.parametrize("content", ["", "{", '{"c1": {"stream": 1}}'])
async def test_a_file_of_no_use_is_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "connections.json"
    path.write_text(content)
    assert await read_identities(path) == {}
    assert await read_identities(None) == {}


async def test_a_folder_that_cannot_be_written_to_ends_nothing(tmp_path: Path) -> None:
    path = tmp_path / "later" / "connections.json"
    async with kept(path) as identities:
        identities.admitted("c1", STREAM, "")
        await until(lambda: not identities.changed.is_set())
        path.parent.mkdir()
        identities.admitted("c2", STREAM, "")
        await until(lambda: path.exists() and b"c2" in path.read_bytes())
    assert set(await read_identities(path)) == {"c1", "c2"}
