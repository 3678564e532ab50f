"""Whatever a server says in commands: the stream goes on or ends with a reason, which repeats no key."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.rtmp import amf
from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp.commands import MAX_COMMAND_BYTES, Commands

ADDRESS = RtmpAddress.of("rtmp://a.example/live?token=t0ken", "s3cret")
CODES = st.sampled_from(
    ["NetStream.Publish.Start", "NetStream.Publish.BadName", "NetConnection.Connect.Rejected", "error"]
)
TEXTS = CODES | st.sampled_from(["s3cret", "/live/s3cret?token=t0ken"]) | st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["code", "level", "description", "a"]), inner, max_size=3)
    ),
)
NAMES = st.sampled_from(["_result", "_error", "onStatus", "close", "onBWDone"])
COMMANDS = st.tuples(NAMES, st.sampled_from([0.0, 1.0, 4.0, 5.0, float("nan")]), VALUES, VALUES)


@pytest.mark.fuzz
@given(st.lists(COMMANDS | st.lists(VALUES, max_size=4), max_size=6))
@example([("_result", 1.0, None, None), ("_result", 4.0, None, float("inf")), ("_result", 5.0, None, None)])
def test_any_commands_are_an_agreement_or_a_reason(commands: list[list[object]]) -> None:
    async def publish() -> int | SessionError:
        closed: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()
        spoken = Commands(ADDRESS, lambda stream, body: None, closed)
        publishing = asyncio.ensure_future(spoken.publish())
        for command in commands:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            spoken.received(amf.encode(*command))
        if not closed.done():
            closed.set_result(SessionError("the end"))
        try:
            return await publishing
        except SessionError as error:
            return error

    outcome = asyncio.run(publish())
    if isinstance(outcome, SessionError):
        assert "s3cret" not in str(outcome)
        assert "t0ken" not in str(outcome)
    else:
        assert 0 <= outcome < 2**32


@pytest.mark.fuzz
@given(st.binary(max_size=60) | st.just(bytes(MAX_COMMAND_BYTES + 1)))
def test_any_bytes_are_a_command_or_none(body: bytes) -> None:
    async def received() -> None:
        closed: asyncio.Future[SessionError] = asyncio.get_running_loop().create_future()
        with contextlib.suppress(amf.AmfError):
            Commands(ADDRESS, lambda stream, body: None, closed).received(body)

    asyncio.run(received())
