"""Delivers what goes to many streams in turns of the owners whose streams they are.

A thousand streams of one user take tens of milliseconds for each event. Done at once, they would hold up
everybody else's events and requests; so they get turns of well under a millisecond until all have theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from onair_api.access.audiences import Owner
from onair_api.event.event import Event
from onair_api.event.replay.closed_session_position import Unsent
from onair_api.event.stream.session import Session
from onair_api.metrics import EVENTS_DROPPED

AT_ONCE = 16
"""Streams that are given an event at once, as many as a turn takes."""
TURN_S = 0.0001
BURST_S = 1.0
"""Of an owner's bandwidth, what may be sent at once after a pause."""
STEP, STEP_BYTES = 4, 16_384
"""Streams, and what they are sent, between two looks at the clock."""
MAX_DELIVERIES, MAX_BYTES = 250_000, 16 << 20
"""What an owner's streams may wait for, all together; beyond it they lose all of it, and are notified."""

Send = Callable[[Session, Event], None]
Wanted = Callable[[Session, Event], bool]


class _Receivers:
    """The streams that one event after another is for, mostly the same ones: kept once."""

    __slots__ = ("_places", "sessions")

    def __init__(self, sessions: list[Session]) -> None:
        self.sessions = sessions
        self._places: dict[Session, int] | None = None

    def place(self, session: Session) -> int:
        """Where a stream is among them; -1 where it is not."""
        if self._places is None:  # a thousand streams may close at once: each looks at every event that waits
            self._places = {each: place for place, each in enumerate(self.sessions)}
        return self._places.get(session, -1)


@dataclass(slots=True)
class _PendingDelivery:
    event: Event | None
    """None: the loss is reported."""
    receivers: _Receivers
    at: int = 0
    """How many of them have had their turn."""
    taken: set[Session] = field(default_factory=set)
    """Those that do not get it from here any more."""

    def left(self) -> list[Session]:
        """Which it still waits for."""
        rest = self.receivers.sessions[self.at :] if self.at else self.receivers.sessions
        return [each for each in rest if each not in self.taken] if self.taken else rest

    def take(self, session: Session) -> bool:
        """Whether it waited for a stream, which it does not from now on."""
        if self.receivers.place(session) < self.at or session in self.taken:
            return False
        self.taken.add(session)
        return True


class _Queue:
    def __init__(self) -> None:
        self.waiting: deque[_PendingDelivery] = deque()
        self.deliveries = 0
        self.bytes = 0

    def add(self, event: Event | None, sessions: list[Session]) -> None:
        last = self.waiting[-1].receivers if self.waiting else None
        receivers = last if last and last.sessions == sessions else _Receivers([*sessions])
        self.waiting.append(_PendingDelivery(event, receivers))
        self.deliveries += len(sessions)
        self.bytes += event.size if event else 0

    def ends_with_loss(self, sessions: list[Session]) -> bool:
        """Whether the last that these streams are to be told is that events were lost."""
        last = self.waiting[-1] if self.waiting else None
        return last is not None and not last.event and not last.at and last.receivers.sessions == sessions

    def end_first(self) -> None:
        first = self.waiting.popleft()
        self.deliveries -= len(first.receivers.sessions)
        if first.event:
            self.bytes -= first.event.size
            first.event.drop_frames()


class _Bandwidth:
    """When each owner may be sent more, by what it was sent."""

    def __init__(self, bytes_per_s: int) -> None:
        """
        Args:
            bytes_per_s: of each owner; 0: as much as there is.
        """
        self._bytes_per_s = bytes_per_s
        self._from: dict[Owner, float] = {}
        self._most = 64

    def wait_s(self, owner: Owner, now: float) -> float:
        return max(0.0, self._from.get(owner, 0.0) - now)

    def spend(self, owner: Owner, sent: int, now: float) -> None:
        if not self._bytes_per_s:
            return
        if len(self._from) >= self._most:
            self._from = {each: at for each, at in self._from.items() if at > now - BURST_S}
            self._most = max(64, 2 * len(self._from))
        self._from[owner] = max(self._from.get(owner, 0.0), now - BURST_S) + sent / self._bytes_per_s


class FairTurns:
    """Keeps the order of events for each stream. Each stream has one owner."""

    def __init__(self, send: Send, wanted: Wanted, bytes_per_s: int = 0) -> None:
        """
        Args:
            wanted: whether a stream is to have an event, once it is its turn.
            bytes_per_s: of events that each owner's streams are sent in turns, all together; 0: no limit.
        """
        self._send, self._wanted = send, wanted
        self._queues: dict[Owner, _Queue] = {}
        self._bandwidth = _Bandwidth(bytes_per_s)
        self._added = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return not self._queues

    def must_wait(self, sessions: list[Session]) -> bool:
        """Whether an event for these is for `add`: they are many, or events before it wait."""
        return len(sessions) > AT_ONCE or bool(
            self._queues and sessions and sessions[0].owner in self._queues
        )

    def add(self, event: Event | None, sessions: list[Session]) -> None:
        """Queues an event for streams of one owner.

        Args:
            event: None if they are told that events were lost.
        """
        owner = sessions[0].owner
        queue = self._queues.setdefault(owner, _Queue())
        size = event.size if event else 0
        if queue.deliveries + len(sessions) > MAX_DELIVERIES or queue.bytes + size > MAX_BYTES:
            queue = self._queues[owner] = _lost(queue)
        queue.add(event, sessions)
        self._added.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def lose(self, sessions: Iterable[Session]) -> None:
        """Tells streams of any owners that events were lost; what waits for them comes before."""
        of_owners: dict[Owner, list[Session]] = {}
        for each in sessions:
            of_owners.setdefault(each.owner, []).append(each)
        for owner, streams in of_owners.items():
            queue = self._queues.get(owner)
            if queue is None or not queue.ends_with_loss(streams):
                self.add(None, streams)

    def take(self, session: Session) -> Unsent:
        """What waits for a stream, which does not get it from here any more."""
        queue = self._queues.get(session.owner)
        taken = [each.event for each in (queue.waiting if queue else ()) if each.take(session)]
        return Unsent([event for event in taken if event], None in taken)

    def may_send(self, owner: Owner) -> bool:
        """Whether an owner's stream may be sent something at once, apart from what waits for its turn."""
        return self._bandwidth.wait_s(owner, time.monotonic()) <= BURST_S

    def spend(self, owner: Owner, sent: int) -> None:
        """Takes what was sent at once out of an owner's bandwidth of the time to come."""
        self._bandwidth.spend(owner, sent, time.monotonic())

    def send_rest(self, session: Session) -> None:
        """Sends at once what waits for a stream; it is out of its owner's bandwidth of the time to come.

        Once that is more than of `BURST_S` it is lost instead, and told.
        """
        rest = self.take(session)
        if session.closed:
            return
        events = [event for event in rest.events if self._wanted(session, event)]
        too_many = bool(events) and not self.may_send(session.owner)
        if too_many or rest.loss:
            session.report_loss()
        if too_many:
            EVENTS_DROPPED.labels("too_many").inc(len(events))
            return
        for event in events:
            self._send(session, event)
        self.spend(session.owner, sum(event.size for event in events))

    async def _run(self) -> None:
        try:
            while self._queues:
                now = time.monotonic()
                owner = next((each for each in self._queues if not self._bandwidth.wait_s(each, now)), None)
                if owner is None:
                    await self._pause(min(self._bandwidth.wait_s(each, now) for each in self._queues))
                    continue
                queue = self._queues[owner]
                self._bandwidth.spend(owner, self._turn(queue), now)
                if self._queues.get(owner) is queue:
                    del self._queues[owner]
                    if queue.waiting:
                        self._queues[owner] = queue
                await asyncio.sleep(0)
        finally:
            self._task = None

    async def _pause(self, seconds: float) -> None:
        """Until an owner may be sent more, or more is added: it may be another's."""
        self._added.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._added.wait()

    def _turn(self, queue: _Queue) -> int:
        """Sends what one turn has time for; gives how many bytes of events that were."""
        end, sent = time.perf_counter() + TURN_S, 0
        while queue.waiting:
            first = queue.waiting[0]
            end_of_step = first.at + (STEP if not first.event or first.event.size * STEP <= STEP_BYTES else 1)
            step, first.at = first.receivers.sessions[first.at : end_of_step], end_of_step
            for session in step:
                if session.closed or session in first.taken:
                    continue
                if not first.event:
                    session.report_loss()
                elif self._wanted(session, first.event):
                    self._send(session, first.event)
                    sent += first.event.size
            if first.at >= len(first.receivers.sessions):
                queue.end_first()
            if time.perf_counter() >= end:
                break
        return sent


def _lost(queue: _Queue) -> _Queue:
    """In its place: that all that waited is lost, told to each stream once.

    A quarter of a million deliveries may wait, most of them for the same streams: no step is taken for each.
    """
    streams: dict[Session, None] = {}
    left: list[Session] = []
    of: tuple[object, ...] = ()
    dropped = 0
    for each in queue.waiting:
        if of != (of := (each.receivers, each.at, each.taken)):
            left = each.left()
            streams.update(dict.fromkeys(left))
        if each.event:
            dropped += len(left)
    EVENTS_DROPPED.labels("too_many").inc(dropped)
    after = _Queue()
    after.waiting.append(_PendingDelivery(None, _Receivers([*streams])))
    after.deliveries = len(streams)
    return after
