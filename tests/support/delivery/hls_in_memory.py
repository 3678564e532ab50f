"""HLS destinations whose bucket is in memory, with a programme that is fed by hand."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest
from tests.support.delivery.bucket import hls_publisher, names
from tests.support.media.packets import AUDIO_HEADER, VIDEO_HEADER, picture
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination, ProgramStorage
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.destination_publisher import DestinationPublisher
from onair_encoder.publish.hls import leftovers, object_store, prefix_lock
from onair_encoder.publish.hls.bucket import ABSENT
from onair_encoder.publish.hls.storage_error import Changed

SEGMENT_S = 2
Refusal = Callable[[str, str], Exception | None]


class MemoryBucket:
    """Stands in for `Bucket`; heeds conditions, and refuses what a test has it refuse."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        """Methods and keys, in order."""
        self.ended: list[str] = []
        """Keys of playlists that were stored with an end."""
        self.refuses: Refusal = lambda method, key: None
        self._holds: Callable[[str, str], bool] = lambda method, key: False
        self._released = asyncio.Event()
        self._etags: dict[str, str] = {}
        self._versions = itertools.count(1)

    def __call__(
        self, storage: ProgramStorage, timeout_s: Callable[[], float], inside: object, taken: object
    ) -> Self:
        return self

    def hold(self, which: Callable[[str, str], bool]) -> None:
        """Lets requests of this method and key wait until they are released."""
        self._holds, self._released = which, asyncio.Event()

    def release(self) -> None:
        self._holds = lambda method, key: False
        self._released.set()

    async def _ask(self, method: str, key: str) -> None:
        self.requests.append((method, key))
        await asyncio.sleep(0)
        if self._holds(method, key):
            await self._released.wait()
        if error := self.refuses(method, key):
            raise error

    async def put(self, key: str, data: bytes, _type: str, _cache: str, if_match: str = "") -> str:
        await self._ask("PUT", key)
        if if_match and if_match != self._etags.get(key, ABSENT):
            raise Changed("changed", permanent=True)
        self.objects[key] = bytes(data)
        if b"#EXT-X-ENDLIST" in data:
            self.ended.append(key)
        self._etags[key] = f'"{next(self._versions)}"'
        return self._etags[key]

    async def get(self, key: str, most_bytes: int | None = None) -> tuple[bytes, str] | None:
        await self._ask("GET", key)
        return (self.objects[key][:most_bytes], self._etags[key]) if key in self.objects else None

    async def delete(self, key: str) -> None:
        await self._ask("DELETE", key)
        self.objects.pop(key, None)

    async def close_when_idle(self) -> None:
        return

    async def close(self) -> None:
        return

    def text(self, key: str) -> str:
        return self.objects.get(key, b"").decode()

    @property
    def tail(self) -> str:
        """The one note of what the run's playlist does not list; empty where there is none."""
        return next((d.decode() for key, d in self.objects.items() if key.startswith("run_rec-tail.")), "")

    @property
    def listed(self) -> list[str]:
        """The segments that the recording's playlist names, and those that are noted beyond."""
        listed = names(self.text("run.m3u8"))
        return listed + [each for each in names(self.tail) if each not in listed]

    @property
    def segments(self) -> set[str]:
        return {key for key in self.objects if key.endswith(".ts")}

    async def until(self, check: Callable[[], object], what: str) -> None:
        await until(check, what, 10, poll_s=0.002, state=lambda: (sorted(self.objects), self.requests[-9:]))


class Programme:
    """Segments of two seconds, made at once."""

    def __init__(self) -> None:
        self.fan_out = FanOut()
        self._second = 0
        for header in (VIDEO_HEADER, AUDIO_HEADER):
            self.fan_out.put(header)
        self._key_frame()

    def _key_frame(self) -> None:
        self.fan_out.put(picture(self._second * 1000, b"second %d" % self._second, key=True))

    def segments(self, count: int) -> None:
        """Ends so many segments, each where the next begins."""
        for _ in range(count * SEGMENT_S):
            self._second += 1
            self._key_frame()


class HlsInMemory:
    """Agents of one pod after the other, which share its disk, or of another pod."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bucket = MemoryBucket()
        self.programme = Programme()
        self._folder, self._monkeypatch = folder, monkeypatch
        self._pods = 0
        self._publishers: list[DestinationPublisher] = []
        monkeypatch.setattr(object_store, "Bucket", self.bucket)
        self.another_pod()

    @property
    def disk(self) -> Path:
        return self._folder / f"pod-{self._pods}"

    @property
    def noted(self) -> set[str]:
        """Segments that are stored and not listed, by what is on disk."""
        stored = set()
        for note in self.disk.rglob("*.json"):
            with suppress(FileNotFoundError):  # it is listed meanwhile
                stored.add(json.loads(note.read_text())[-1])
        return stored - {""}

    def another_pod(self) -> None:
        self._pods += 1
        self.another_agent()

    async def kill(self, publisher: DestinationPublisher) -> None:
        """Ends an agent that has no time for anything; what follows begins with what was on disk then."""
        died = self.disk
        self._pods += 1
        await asyncio.to_thread(_copy, died, self.disk)
        publisher.abort()
        await publisher.ended()
        self.another_agent()

    def another_agent(self) -> None:
        """What follows is of a process that begins with what is on disk."""
        self._monkeypatch.setattr(leftovers, "SPOOL", self.disk)
        self._monkeypatch.setattr(leftovers, "_leftovers", {})
        self._monkeypatch.setattr(prefix_lock, "_HELD_PREFIXES", {})

    def wanted(self, id_: str = "archive", **storage: Any) -> ProgramDestination:
        place = {"region": "r", "bucket": "shows", "access_key": "AK", "secret_key": "s3cret"}
        storage = {"vod": True, "segment_duration_ms": SEGMENT_S * 1000, **storage}
        return ProgramDestination(
            id=id_, type="HLS", storage=ProgramStorage(**place, **storage), timeout_ms=100
        )

    async def publisher(self, wanted: ProgramDestination | None = None, **run: Any) -> DestinationPublisher:
        """One that takes packets."""
        subscribers = self.programme.fan_out._subscribers
        before = list(subscribers)
        publisher = hls_publisher(wanted or self.wanted(), self.programme.fan_out, **run)
        self._publishers.append(publisher)
        await self.bucket.until(lambda: set(subscribers) - set(before), "begun")
        return publisher

    async def close(self) -> None:
        for publisher in self._publishers:
            publisher.abort()
            await publisher.ended()


def _copy(folder: Path, to: Path) -> None:
    """Of a disk in use: what vanishes meanwhile is not copied."""
    for each in folder.rglob("*"):
        copied = to / each.relative_to(folder)
        copied.parent.mkdir(parents=True, exist_ok=True)
        if each.is_file():
            with suppress(FileNotFoundError):
                shutil.copy(each, copied)
