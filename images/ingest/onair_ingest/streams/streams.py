"""The streams of this gateway: looked at several times a second, told to all who follow."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress

import structlog

from onair_crds.contract.ingest_gateway import (
    HEARTBEAT_S,
    MAX_REFUSED,
    Heartbeat,
    RefusedPublisher,
    RefusedReason,
    StreamState,
    Video,
)
from onair_crds.contract.times import format_time
from onair_ingest.mediamtx.client import CONNECTIONS, MediaMtx, MediaMtxUnavailable
from onair_ingest.streams.connection_identity import Identities
from onair_ingest.streams.decodable import undecodable
from onair_ingest.streams.judgement import MAX_ADDRESS, UNRESPONSIVE_S, Judged, Judgement, Look, Moment

log = structlog.get_logger()

TIMER_S = 0.02
"""A timer of the event loop may end a little early, when it is not too late yet."""
LEAVING_INTERVAL_S = 0.05
"""Between two looks of a gateway that is being stopped."""
HUNG_S = 5.0
"""It stands still for a second, at most, while it asks who may publish."""


def _now() -> Moment:
    return Moment(time.monotonic(), dt.datetime.now(dt.UTC))


class Streams:
    def __init__(
        self, mediamtx: MediaMtx, identities: Identities, *, poll_interval_s: float, silent_after_s: float
    ) -> None:
        self._mediamtx = mediamtx
        self._identities = identities
        self._interval_s = poll_interval_s
        self._judgement = Judgement(silent_after_s)
        self._failed_pulls: dict[str, StreamState] = {}
        self._followers: set[_Follower] = set()
        self._watches: dict[str, Callable[[], None]] = {}
        self._looking = asyncio.Lock()
        self._settled = asyncio.Event()
        self._responded_at_s = self._asked_at_s = time.monotonic()
        """When it responded last, and when it was first asked what it has not responded to since."""
        self.server_responds = False
        self._server_ended = False
        self._left = False

    @property
    def server_hangs(self) -> bool:
        """Whether the server listens, and has not responded for longer than it ever takes."""
        return not self._server_ended and time.monotonic() - self._responded_at_s > HUNG_S

    @property
    def settled(self) -> bool:
        """Whether the truth is known of every stream; until then none is reported."""
        return self._settled.is_set()

    def get(self, stream: str) -> Judged | None:
        return self._judgement.get(stream)

    def path(self, stream: str) -> str | None:
        """Where the server has a stream, while somebody publishes it. It may hold the stream key."""
        judged = self.get(stream)
        return judged.look.path.name if judged else None

    def state(self, stream: str) -> StreamState | None:
        """What is known of a stream, while somebody publishes it."""
        judged = self.get(stream)
        return judged.state if judged else None

    def video(self, stream: str) -> Video | None:
        """What is known of a stream's video."""
        state = self.state(stream)
        return state.video if state else None

    def inbound_bytes(self, stream: str) -> int | None:
        """How much of a stream the server has received, at the last look; None if nobody publishes it."""
        judged = self.get(stream)
        return judged.look.path.inbound_bytes if judged else None

    def undecodable(self, stream: str) -> str | None:
        """Why no page can decode a stream that is published; None if one can, or if that is not known yet."""
        judged = self.get(stream)
        return undecodable(judged.look.path.tracks2) if judged else None

    def all(self) -> Iterable[Judged]:
        return self._judgement.all()

    async def run(self) -> None:
        """Looks again and again, with a rest as long as it was busy: admission and playlists wait then."""
        while True:
            began_s, busy_s = time.monotonic(), -time.thread_time()
            if self._responded_at_s >= self._asked_at_s:
                self._asked_at_s = began_s
            looking = asyncio.create_task(self.look())
            try:
                left_s = max(0.0, self._unresponsive_at_s + TIMER_S - began_s)
                if not (await asyncio.wait({looking}, timeout=left_s))[0]:
                    self.tell(self._not_responding(_now()))
                await looking
            finally:
                looking.cancel()
            busy_s += time.thread_time()
            await asyncio.sleep(max(busy_s, self._interval_s - (time.monotonic() - began_s)))

    @property
    def _unresponsive_at_s(self) -> float:
        """Until when it may take to respond. While this process stood still nobody asked it."""
        return max(self._responded_at_s, self._asked_at_s - self._interval_s) + UNRESPONSIVE_S

    def _not_responding(self, now: Moment) -> list[StreamState]:
        return self._judgement.not_responding(now) if now.monotonic_s >= self._unresponsive_at_s else []

    async def look(self) -> None:
        """Brings all states up to date."""
        async with self._looking:
            try:
                looks = await self._identities.looks(await self._mediamtx.paths())
            except MediaMtxUnavailable as error:
                if self.server_responds:
                    log.warning("mediamtx.unavailable", error=str(error))
                self.server_responds, self._server_ended = False, error.ended
                now = _now()
                judgement = self._judgement
                self.tell(judgement.ended(now) if error.ended else self._not_responding(now))
                return
            if not self.server_responds:
                log.info("mediamtx.responds")
            self.server_responds, self._server_ended = True, False
            now = _now()
            self._responded_at_s = now.monotonic_s
            self.tell(self._judgement.look(looks, now))
            if self._judgement.settled(now.monotonic_s):
                self._settled.set()

    async def leave(self, most_s: float) -> None:
        """Tells all followers how the streams end, and ends them.

        A server that is stopped together with this gateway ends a moment later, and its streams with it.

        Args:
            most_s: how long to look for that; one that has not ended then continues without this gateway.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                while list(self.all()):
                    await self.look()
                    await asyncio.sleep(LEAVING_INTERVAL_S)
        self.tell(self._judgement.left(_now()))
        self._left = True
        for follower in self._followers:
            follower.wake()

    async def disconnect(self, stream: str) -> bool:
        """Closes the connection of a stream's publisher; False if there is none.

        Raises:
            MediaMtxUnavailable
        """
        judged = self.get(stream)
        if judged is None or judged.look.source.type not in CONNECTIONS:
            return False
        await self._mediamtx.kick(judged.look.source)
        log.info("publisher.disconnected", stream=stream)
        await self.look()
        return True

    def measured(self, look: Look, framerate: float) -> None:
        """Takes the frame rate that was measured of a connection."""
        self.tell(self._judgement.measured(look, framerate))

    def pull_failed(self, stream: str, reason: str, next_attempt_s: int | None = None) -> None:
        """A pull did not succeed, or has ended; within `next_attempt_s` it is tried again, if ever."""
        now = format_time(dt.datetime.now(dt.UTC))
        known = self._failed_pulls.get(stream)
        state = StreamState(
            stream=stream,
            online=False,
            flowing=False,
            since=known.since if known else now,
            protocol="pull",
            error=reason,
            next_attempt_s=next_attempt_s,
            unknown=self._server_ended,
        )
        self._failed_pulls[stream] = state
        if state != known:
            self.tell([state])

    def watch(self, stream: str, changed: Callable[[], None]) -> None:
        """Calls `changed` with every change of a pull, until it has ended."""
        self._watches[stream] = changed

    def pull_ended(self, stream: str) -> None:
        """A pull is wanted no more."""
        self._failed_pulls.pop(stream, None)
        self._watches.pop(stream, None)

    def refused(self, stream: str, reason: RefusedReason, address: str) -> None:
        """Tells the followers, with their next heartbeat, of a publisher who was not let in."""
        publisher = RefusedPublisher(stream=stream, reason=reason, publisher=address[:MAX_ADDRESS] or None)
        for follower in self._followers:
            follower.add_refused(publisher)

    def preview_waits(self, stream: str) -> None:
        """Tells the followers, likewise, of a preview that waits until another one ends."""
        log.warning("preview.waits", stream=stream)
        for follower in self._followers:
            follower.add_waiting(stream)

    def tell(self, changed: Iterable[StreamState]) -> None:
        """Tells the followers of changed states."""
        for state in changed:
            if state.online:
                self._failed_pulls.pop(state.stream, None)
            log.info(
                "stream.changed",
                stream=state.stream,
                online=state.online,
                flowing=state.flowing,
                protocol=state.protocol,
                error=state.error,
            )
            if watch := self._watches.get(state.stream):
                watch()
            for follower in self._followers:
                follower.add(state)

    async def follow(self) -> AsyncIterator[StreamState | Heartbeat]:
        """First every stream, then a heartbeat, then each change; a heartbeat at least every HEARTBEAT_S.

        It ends when this gateway leaves.
        """
        await self._settled.wait()
        if self._left:
            return
        online = (judged.state for judged in self.all())
        follower = _Follower([*self._failed_pulls.values(), *online, *self._judgement.unknown()])
        self._followers.add(follower)
        try:
            while True:
                for state in follower.take():
                    yield state
                if self._left:
                    return
                yield follower.take_heartbeat()
                await follower.wait(HEARTBEAT_S)
        finally:
            self._followers.discard(follower)


class _Follower:
    """What one follower has not been sent yet, of each stream the newest state: a slow one costs no more."""

    def __init__(self, states: Iterable[StreamState]) -> None:
        self._waiting = {state.stream: state for state in states}
        self._refused: set[RefusedPublisher] = set()
        self._previews: set[str] = set()
        """Streams whose previews wait."""
        self._news = asyncio.Event()

    def add_refused(self, publisher: RefusedPublisher) -> None:
        """Takes one that is reported with the next heartbeat, while there is room for it."""
        if len(self._refused) < MAX_REFUSED:
            self._refused.add(publisher)

    def add_waiting(self, stream: str) -> None:
        """Takes a preview that is reported likewise."""
        if len(self._previews) < MAX_REFUSED:
            self._previews.add(stream)

    def take_heartbeat(self) -> Heartbeat:
        taken = Heartbeat(refused=list(self._refused), waiting=list(self._previews))
        self._refused, self._previews = set(), set()
        return taken

    def add(self, state: StreamState) -> None:
        self._waiting[state.stream] = state
        self._news.set()

    def wake(self) -> None:
        """Has it look whether there is more to come."""
        self._news.set()

    def take(self) -> list[StreamState]:
        taken = list(self._waiting.values())
        self._waiting.clear()
        self._news.clear()
        return taken

    async def wait(self, timeout_s: float) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        except TimeoutError:
            return
