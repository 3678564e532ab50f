"""The agent follows the encode, and knows when there is no hope for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from onair_encoder.encode import client as client_module
from onair_encoder.encode.client import HOPELESS_FAILURES, ProgressClient
from onair_encoder.encode.progress import EncodeProgress


async def test_failures_are_reported_as_they_come_and_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "SUPERVISOR_SOCKET", tmp_path / "supervisor.sock")
    reports: list[EncodeProgress] = [
        EncodeProgress(frames=10),
        EncodeProgress(frames=20),
        EncodeProgress(frames=20, failures=HOPELESS_FAILURES - 1),
        EncodeProgress(frames=20, failures=HOPELESS_FAILURES),
        EncodeProgress(frames=90),
    ]

    async def supervise(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.writelines(each.encode().encode() + b"\n" for each in reports)
        await writer.drain()

    errors: list[str | None] = []
    client = ProgressClient(lambda: errors.append(client.error))
    server = await asyncio.start_unix_server(supervise, tmp_path / "supervisor.sock")
    following = asyncio.create_task(client.run())
    async with asyncio.timeout(5):
        while client.now != reports[-1]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    following.cancel()
    server.close()
    assert errors == [None, "ffmpeg hung or ended 6 times in a row", None]
