"""The queue of a layout's writes: order, and what becomes one write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from onair_api.auth.identity import Identity
from onair_api.errors import InvalidArgument, NotFound
from onair_api.layout.layer.batch import BatchRequest, batch_request
from onair_api.layout.layer.request import create_request, update_request
from onair_api.layout.layer.write_queue import LayerWrites, WaitingRequest, next_group
from onair_api.settings import LimitSettings
from onair_api.writes.request_note import RequestNote
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import Document, JsonObject

LIMITS = LimitSettings()
ANIMATION = [{"properties": ["x"], "durationMs": 1}]


def identity(user: str) -> Identity:
    return Identity("service", user, user, Role.HOST, ())


def update(layer: str, user: str = "anna", session: str | None = None, **body: Any) -> WaitingRequest:
    request = update_request(layer, body, LIMITS)
    note = RequestNote(session, request.metadata)
    return WaitingRequest(identity(user), note, BatchRequest([request], request.metadata), True)


def create(user: str = "anna", **body: Any) -> WaitingRequest:
    request = create_request({"type": "text", **body}, lambda: "new", LIMITS)
    return WaitingRequest(identity(user), RequestNote(), BatchRequest([request]), True)


def batch(*items: JsonObject, user: str = "anna", **body: Any) -> WaitingRequest:
    request = at_once(batch_request({"layers": list(items), **body}, lambda: "new", LIMITS))
    return WaitingRequest(identity(user), RequestNote(None, request.metadata), request, False)


def sizes(*waiting: WaitingRequest) -> list[int]:
    """How many requests each write has."""
    queue, found = list(waiting), []
    while queue:
        found.append(len(next_group(queue)))
    return found


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def within_time() -> None:
        async with asyncio.timeout(10):
            await test()

    asyncio.run(within_time())


def test_what_becomes_one_write() -> None:
    async def test() -> None:
        assert sizes(update("a", x=1), update("a", x=2), update("a", y=3)) == [3]
        assert sizes(update("a"), update("b"), update("a")) == [2, 1], "two drags do not hold each other up"
        assert sizes(update("a"), update("a", "bob"), update("a")) == [1, 1, 1]
        assert sizes(update("a", session="1"), update("a", session="2")) == [1, 1]
        assert sizes(update("a"), create(), update("a")) == [1, 1, 1]
        assert sizes(update("a", children=["b"]), update("a", children=["c"])) == [1, 1]
        assert sizes(update("a", requestAnimation=ANIMATION), update("a")) == [1, 1]
        both = ({"update": {"id": "a", "x": 1}}, {"update": {"id": "b"}})
        assert sizes(batch(*both), batch(*both), batch(both[0])) == [2, 1]
        assert sizes(batch(*both), update("a"), batch(*both)) == [1, 1, 1]

    run(test)


class GatedLayoutWriter:
    """Stands for the writer: one layout, every write takes until it is let go on."""

    def __init__(self) -> None:
        self.spec: Document = {"layers": [{"id": "a", "type": "text"}, {"id": "b", "type": "text"}]}
        self.may_write = asyncio.Event()
        self.nonces: list[str | None] = []
        self.writes: list[RequestNote] = []
        self.conflicts = 0
        self.on_conflict: Callable[[], object] = int

    def entry(self) -> Entry:
        metadata = {"name": "lay", "uid": "u", "resourceVersion": "1"}
        return Entry("Layout", {"metadata": metadata, "spec": self.spec})

    async def update(self, entry: Entry, change: Any, note: Callable[[], RequestNote]) -> None:
        await self.may_write.wait()
        spec = await change(self.entry())
        for _ in range(self.conflicts):
            self.on_conflict()
            spec = await change(self.entry())
        self.spec = spec
        self.writes.append(note())


class RecordingEventDetails:
    """Stands for Redis; keeps nothing while it is unreachable."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, JsonObject]] = []
        self.reachable = True

    async def keep(self, nonce: str, details: JsonObject, service_id: str) -> bool:
        if self.reachable:
            self.kept.append((nonce, details))
        return self.reachable

    def forget(self, nonce: str) -> None:
        self.kept = [each for each in self.kept if each[0] != nonce]


def test_a_drag_is_answered_one_by_one_and_stored_in_few_writes() -> None:
    async def test() -> None:
        layout = GatedLayoutWriter()
        writes = LayerWrites(layout, None)  # type: ignore[arg-type]
        drag = [update("a", x=n, requestMetadata={"n": n}) for n in range(30)]
        calls = [writes.enqueue(layout.entry(), each) for each in drag]
        await asyncio.sleep(0)
        layout.may_write.set()
        responses = await asyncio.gather(*calls)
        assert [(each["x"], each["requestMetadata"]) for each in responses] == [
            (n, {"n": n}) for n in range(30)
        ]
        assert layout.spec["layers"][0]["x"] == 29
        assert len(layout.writes) <= 2
        assert layout.writes[-1].metadata == {"n": 29}
        assert await writes.enqueue(layout.entry(), update("b", x=1)), "the queue starts again"

    run(test)


def test_an_error_is_its_own_requests() -> None:
    async def test() -> None:
        layout = GatedLayoutWriter()
        layout.may_write.set()
        writes = LayerWrites(layout, None)  # type: ignore[arg-type]
        results = await asyncio.gather(
            *(
                writes.enqueue(layout.entry(), each)
                for each in (update("a", x=1), update("missing"), update("b", x=2))
            ),
            return_exceptions=True,
        )
        assert isinstance(results[1], NotFound)
        assert [each.get("x") for each in layout.spec["layers"]] == [1, 2]

    run(test)


def test_a_batch_with_too_large_a_response_is_refused_without_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("onair_api.layout.layer.record.MAX_BATCH_RESPONSE_BYTES", 2000)

    async def test() -> None:
        layout = GatedLayoutWriter()
        layout.may_write.set()
        layout.spec["layers"][0]["data"] = {"text": "x" * 400}
        writes = LayerWrites(layout, None)  # type: ignore[arg-type]
        batches = [batch(*[{"update": {"id": "a", "x": x}}] * times) for x, times in ((1, 2), (2, 4), (3, 1))]
        waiting = [writes.enqueue(layout.entry(), each) for each in batches]
        small, large, last = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(large, InvalidArgument)
        assert "larger than 2000 bytes" in str(large)
        assert [len(each["layers"]) for each in (small, last) if isinstance(each, dict)] == [2, 1]
        assert layout.spec["layers"][0]["x"] == 3
        with pytest.raises(InvalidArgument):
            await writes.enqueue(layout.entry(), batches[1])
        assert layout.spec["layers"][0]["x"] == 3, "nothing of it is applied"

    run(test)


def test_a_failure_of_the_write_is_everybodys() -> None:
    async def test() -> None:
        layout = GatedLayoutWriter()

        async def fail(*_: Any) -> None:
            await layout.may_write.wait()
            raise NotFound("gone")

        layout.update = fail  # type: ignore[method-assign, assignment]
        writes = LayerWrites(layout, None)  # type: ignore[arg-type]
        calls = [writes.enqueue(layout.entry(), update("a")) for _ in range(3)]
        await asyncio.sleep(0)
        layout.may_write.set()
        for call in calls:
            with pytest.raises(NotFound):
                await call

    run(test)


def test_what_the_difference_does_not_show_is_kept_under_the_writes_nonce() -> None:
    async def test() -> None:
        layout, details = GatedLayoutWriter(), RecordingEventDetails()
        layout.may_write.set()
        layout.conflicts = 1
        writes = LayerWrites(layout, details)  # type: ignore[arg-type]
        await writes.enqueue(layout.entry(), update("a", x=1))
        assert details.kept == [], "the difference shows a plain update"
        assert not layout.writes[0].has_details
        response = await writes.enqueue(layout.entry(), update("a", x=2, requestAnimation=ANIMATION))
        nonce = layout.writes[1].nonce
        assert layout.writes[1].has_details
        assert details.kept == [(nonce, {"update": {**response, "requestMetadata": {}}})] * 2, (
            "and after a conflict"
        )
        assert details.kept[0][1]["update"]["requestAnimation"][0]["durationMs"] == 1
        layout.conflicts = 0
        await writes.enqueue(
            layout.entry(),
            batch({"delete": {"id": "b"}}, {"update": {"id": "a"}}, requestMetadata={"why": 1}),
        )
        nonce, record = details.kept[-1]
        assert nonce == layout.writes[2].nonce
        assert list(record) == ["batch"]
        assert record["batch"]["requestMetadata"] == {"why": 1}
        assert [list(item) for item in record["batch"]["layers"]] == [["delete"], ["update"]]
        assert record["batch"]["layers"][0]["delete"] == {
            "id": "b",
            "layoutId": "lay",
            "requestMetadata": {},
        }

    run(test)


def test_details_of_an_attempt_are_taken_back_if_a_later_one_is_refused() -> None:
    async def test() -> None:
        layout, details = GatedLayoutWriter(), RecordingEventDetails()
        layout.may_write.set()
        writes = LayerWrites(layout, details)  # type: ignore[arg-type]
        layout.conflicts = 1
        layout.on_conflict = layout.spec["layers"].clear
        with pytest.raises(NotFound):
            await writes.enqueue(layout.entry(), update("a", x=2, requestAnimation=ANIMATION))
        assert not layout.writes[0].has_details
        assert details.kept == []

    run(test)


def test_a_note_announces_no_details_that_are_not_kept() -> None:
    async def test() -> None:
        layout, details = GatedLayoutWriter(), RecordingEventDetails()
        layout.may_write.set()
        details.reachable = False
        writes = LayerWrites(layout, details)  # type: ignore[arg-type]
        await writes.enqueue(layout.entry(), update("a", x=2, requestAnimation=ANIMATION))
        assert not layout.writes[0].has_details

    run(test)
