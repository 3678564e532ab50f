"""The container of the browser does not stay behind a part of it that has ended."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from onair_encoder.browser import container
from onair_encoder.browser.page_keeper import PageKeeper
from onair_encoder.browser.server_watch import ServerWatch
from onair_encoder.process.child import Child


@pytest.fixture(autouse=True)
async def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[None]:
    """Without a screen and sound."""
    monkeypatch.setattr(container, "BROWSER_SOCKET", tmp_path / "browser.sock")
    monkeypatch.setattr(container, "x_server", lambda: Child("x", ["sleep", "60"]))
    monkeypatch.setattr(container, "sound_server", lambda on_end: Child("sound", ["sleep", "60"]))
    yield
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().remove_signal_handler(number)


async def test_it_ends_with_an_error_where_a_part_has_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def failing(_: PageKeeper) -> None:
        raise ValueError("of no use")

    monkeypatch.setattr(PageKeeper, "run", failing)
    async with asyncio.timeout(10):
        with pytest.raises(SystemExit) as ended:
            await container.run()
    assert ended.value.code not in (None, 0)
    assert "browser.part-ended" in capsys.readouterr().err


async def test_it_ends_without_one_where_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    running = asyncio.Event()

    async def waiting(_: PageKeeper) -> None:
        running.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(PageKeeper, "run", waiting)
    container_of_it = asyncio.create_task(container.run())
    async with asyncio.timeout(10):
        await running.wait()
        signal.raise_signal(signal.SIGTERM)
        await container_of_it


async def test_it_watches_the_display_and_the_sound_server(monkeypatch: pytest.MonkeyPatch) -> None:
    watched: list[str] = []

    async def ending(watch: ServerWatch) -> None:
        watched.append(watch._child.name)
        await asyncio.sleep(0)
        raise ValueError("of no use")

    monkeypatch.setattr(ServerWatch, "run", ending)
    async with asyncio.timeout(10):
        with pytest.raises(SystemExit):
            await container.run()
    assert sorted(watched) == ["sound", "x"]
