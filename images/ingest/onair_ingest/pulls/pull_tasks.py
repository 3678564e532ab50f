"""All that this gateway is to pull, as the operator said last."""

from __future__ import annotations

import asyncio
import re
import ssl

import structlog

from onair_crds.contract.ingest_gateway import Pulls as Wanted
from onair_crds.contract.ingest_gateway import stream_of_pull
from onair_ingest.mediamtx.client import MediaMtx, MediaMtxUnavailable
from onair_ingest.pulls.address_guard import AddressGuard
from onair_ingest.pulls.pull_task import Pauses, PullTask
from onair_ingest.pulls.retry_turns import RetryTurns
from onair_ingest.streams.key import PULLS
from onair_ingest.streams.streams import Streams

log = structlog.get_logger()

FORGET_RETRY_S = 1.0
NOT_HERE = "an existing ingest server pulls nothing for this installation"
STREAM = re.compile(r"pull-[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


class PullTasks:
    def __init__(
        self,
        mediamtx: MediaMtx,
        streams: Streams,
        guard: AddressGuard,
        pauses: Pauses,
        *,
        enabled: bool = True,
    ) -> None:
        self._mediamtx = mediamtx
        self._streams = streams
        self._guard = guard
        self._pauses = pauses
        self._turns = RetryTurns()
        self._enabled = enabled
        self._tls = ssl.create_default_context()
        self._setting = asyncio.Lock()
        self._running: dict[str, tuple[PullTask, asyncio.Task[None]]] = {}

    async def forget_former(self) -> None:
        """Removes what an earlier process of this gateway was pulling, as soon as the ingest server responds.

        Its relays went with it.
        """
        while True:
            try:
                async with self._setting:
                    for path in await self._mediamtx.configured_paths(PULLS):
                        if stream_of_pull(path.removeprefix(PULLS)) not in self._running:
                            await self._mediamtx.delete_path(path)
            except MediaMtxUnavailable:
                await asyncio.sleep(FORGET_RETRY_S)
            else:
                return

    async def set(self, wanted: Wanted) -> None:
        """Begins and ends pulls so that exactly these run.

        Raises:
            ValueError: one is not named as pulls are.
        """
        if strange := [name for name in wanted.pulls if not STREAM.fullmatch(name)]:
            raise ValueError(f"not names of pulls: {strange}")
        if not self._enabled:
            for name in wanted.pulls:
                self._streams.pull_failed(name, NOT_HERE)
            return
        urls = {name: pull.url.get_secret_value() for name, pull in wanted.pulls.items()}
        async with self._setting:
            await self._change(urls)

    async def _change(self, urls: dict[str, str]) -> None:
        over = [name for name, (pull, _) in self._running.items() if urls.get(name) != pull.url]
        await asyncio.gather(*(self._end(name) for name in over))
        for name, url in urls.items():
            if name not in self._running:
                self._begin(name, url)

    async def close(self) -> None:
        await asyncio.gather(*(self._end(name) for name in list(self._running)))

    def _begin(self, stream: str, url: str) -> None:
        def flows() -> bool:
            judged = self._streams.get(stream)
            return judged is not None and judged.state.flowing

        def failed(reason: str, next_attempt_s: int) -> None:
            self._streams.pull_failed(stream, reason, next_attempt_s)

        pull = PullTask(
            stream,
            url,
            self._mediamtx,
            self._guard,
            self._tls,
            self._pauses,
            self._turns,
            flows=flows,
            failed=failed,
        )
        self._streams.watch(stream, pull.changed)
        log.info("pull.begun", stream=stream)
        self._running[stream] = (pull, asyncio.create_task(pull.run(), name=stream))

    async def _end(self, stream: str) -> None:
        _, task = self._running.pop(stream)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self._streams.pull_ended(stream)
        log.info("pull.ended", stream=stream)
