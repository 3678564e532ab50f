"""What an encoder knows of a destination outlives the destination's Secret."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.small_program import small_program

from onair_crds.contract.program import (
    KeptDestination,
    Program,
    ProgramDestination,
    ProgramRtc,
    ProgramStorage,
    UnreadableDestination,
)
from onair_encoder.agent import agent as agent_module
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.kept_destinations import with_kept
from onair_encoder.publish.delivery import Delivery

MAIN = ProgramDestination(id="main", type="RTMP", url="rtmp://a.example/live", key="s3cret", generation=3)
OTHER = ProgramDestination(id="other", type="RTMP", url="rtmp://b.example/live", generation=1)


def program(*destinations: ProgramDestination, kept: int | None = None) -> Program:
    """A programme; `kept` is the generation of main that is to be kept."""
    wanted = [KeptDestination(id="main", generation=kept)] if kept else []
    return small_program(destinations=list(destinations), kept=wanted)


def test_a_kept_destination_goes_on_with_the_key_that_is_known() -> None:
    taken = with_kept(program(OTHER, kept=3), program(MAIN, OTHER))
    assert taken.destinations == [OTHER, MAIN]
    again = with_kept(program(kept=3), taken)
    assert again.destinations == [MAIN], "and from one programme to the next"


def test_what_was_changed_meanwhile_is_not_kept() -> None:
    assert with_kept(program(OTHER, kept=4), program(MAIN, OTHER)).destinations == [OTHER]


@pytest.mark.parametrize(
    ("known", "wanted", "stays"),
    [("uid-1", "uid-1", True), ("uid-1", "uid-2", False), (None, "uid-2", True), ("uid-1", None, True)],
)
def test_one_of_another_uid_is_not_kept_although_its_generation_is_the_same(
    known: str | None, wanted: str | None, stays: bool
) -> None:
    """It was deleted and made again under its name. An operator or agent of before names no uid."""
    before = MAIN.model_copy(update={"uid": known})
    kept = [KeptDestination(id="main", generation=3, uid=wanted)]
    taken = with_kept(small_program(destinations=[OTHER], kept=kept), program(before))
    assert taken.destinations == ([OTHER, before] if stays else [OTHER])


def test_nothing_is_kept_that_is_not_known_or_not_wanted() -> None:
    assert with_kept(program(OTHER, kept=3), None).destinations == [OTHER]
    assert with_kept(program(OTHER), program(MAIN)).destinations == [OTHER]
    assert "s3cret" not in program(kept=3).wire()


@pytest.mark.parametrize(
    ("generation", "uid", "stays"), [(3, "uid-1", True), (4, "uid-1", False), (3, "uid-2", False)]
)
def test_one_that_a_newer_operator_describes_in_words_of_its_own_goes_on_until_it_is_changed(
    generation: int, uid: str, stays: bool
) -> None:
    before = MAIN.model_copy(update={"uid": "uid-1"})
    aside = UnreadableDestination(id="main", generation=generation, uid=uid, error="why")
    taken = with_kept(small_program(destinations=[OTHER], unreadable=[aside]), program(before))
    assert taken.destinations == ([OTHER, before] if stays else [OTHER])


def rtc(id_: str, identity: str, token: str) -> ProgramDestination:
    room = ProgramRtc(
        provider="livekit", url="wss://rtc.example", token=token, room="studio", identity=identity
    )
    return ProgramDestination(id=id_, type="RTC", rtc=room, generation=3)


def hls(id_: str) -> ProgramDestination:
    storage = ProgramStorage(region="r", bucket="shows", access_key="AK", secret_key="s3cret")
    return ProgramDestination(id=id_, type="HLS", storage=storage, generation=3)


@pytest.mark.parametrize(
    ("held", "wanted", "stays"),
    [
        (MAIN, MAIN.model_copy(update={"id": "other"}), False),
        (MAIN, ProgramDestination(id="other", type="RTMP", url=MAIN.url, key="another"), True),
        (rtc("main", "encoder", "a"), rtc("other", "encoder", "b"), False),
        (rtc("main", "encoder", "a"), rtc("other", "camera", "b"), True),
        (hls("main"), hls("other"), True),
    ],
)
def test_what_would_end_the_stream_of_a_wanted_one_is_not_kept(
    held: ProgramDestination, wanted: ProgramDestination, stays: bool
) -> None:
    taken = with_kept(program(wanted, kept=3), program(held))
    assert taken.destinations == ([wanted, held] if stays else [wanted])


async def test_an_agent_keeps_it_through_its_own_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[list[str]] = []

    async def no_pipeline(command: list[str] | None) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(agent_module, "want_pipeline", no_pipeline)
    monkeypatch.setattr(Delivery, "want", lambda _, them, *__: wanted.append([each.id for each in them]))
    agent = Agent(tmp_path / "program.json")
    await agent.take(program(MAIN, OTHER))
    await agent.take(program(OTHER, kept=3))
    await agent.close()
    restarted = Agent(tmp_path / "program.json")
    await restarted.resume()
    await restarted.take(program(kept=3))
    await restarted.close()
    assert wanted == [["main", "other"], ["other", "main"], ["other", "main"], ["main"]]
