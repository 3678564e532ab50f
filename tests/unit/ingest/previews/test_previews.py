"""Which previews begin, go on and end with what the operator says."""

from __future__ import annotations

import asyncio
import struct

import pytest
from pydantic import SecretStr

from onair_crds.contract.previews import Preview as Wanted
from onair_crds.contract.previews import RoomPreviews
from onair_crds.session_error import SessionError
from onair_ingest.previews import preview_publisher
from onair_ingest.previews import previews as module
from onair_ingest.previews.preview_publisher import PreviewPublisher
from onair_ingest.previews.previews import Previews
from onair_ingest.readers.readers import Readers

REMOVED = SessionError("you were removed from the room", permanent=True)
WRONG_TOKEN = SessionError("the token is refused", permanent=True)


class EndingPreviewPublisher(PreviewPublisher):
    """Ends at once as it is told."""

    begun: list[EndingPreviewPublisher]
    ends_with: tuple[bool, Exception]

    async def _publish(self, subscription: object) -> None:
        self.begun.append(self)
        self.joined, error = self.ends_with
        raise error


class _Subscribed:
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


class _Readers(Readers):
    def __init__(self) -> None: ...

    def subscription(self, stream: str) -> _Subscribed:  # type: ignore[override]
        return _Subscribed()


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[EndingPreviewPublisher]:
    monkeypatch.setattr(module, "PreviewPublisher", EndingPreviewPublisher)
    monkeypatch.setattr(EndingPreviewPublisher, "begun", [], raising=False)
    return EndingPreviewPublisher.begun


def previews() -> Previews:
    return Previews(_Readers(), lambda _: None, 5, lambda _: None)


async def say(to: Previews, token: str, opening: int = 1) -> None:
    wanted = Wanted(identity="source-camera", token=SecretStr(token))
    to.set("room", RoomPreviews(url="ws://rooms", opening=opening, previews={"camera": wanted}))
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_was_removed_does_not_come_back_with_another_token(
    begun: list[EndingPreviewPublisher], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EndingPreviewPublisher, "ends_with", (True, REMOVED), raising=False)
    ours = previews()
    for token in "abc":
        await say(ours, token)
    assert len(begun) == 1
    await say(ours, "d", opening=2)
    assert len(begun) == 2, "a room that opens anew shows everybody"


async def test_whose_token_was_refused_begins_with_another_one(
    begun: list[EndingPreviewPublisher], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EndingPreviewPublisher, "ends_with", (False, WRONG_TOKEN), raising=False)
    ours = previews()
    await say(ours, "a")
    await say(ours, "a")
    assert len(begun) == 1, "the same token would be refused again"
    await say(ours, "b")
    assert len(begun) == 2


@pytest.mark.parametrize("joined", [False, True])
async def test_a_preview_that_failed_in_a_way_nobody_expected_begins_again_with_the_same_token(
    joined: bool, begun: list[EndingPreviewPublisher], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_with = (joined, struct.error("argument out of range"))
    monkeypatch.setattr(EndingPreviewPublisher, "ends_with", ends_with, raising=False)
    monkeypatch.setattr(preview_publisher, "FIRST_PAUSE_S", 0.0)
    ours = previews()
    await say(ours, "a")
    assert len(begun) > 1
    assert all(each is begun[0] for each in begun)
    await ours.close()
