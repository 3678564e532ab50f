"""Requests to the agent that are none of the operator's, or damaged: refused, never a failure of ours."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.support.json_values import JSON, changed
from tests.support.small_program import small_program

from onair_crds.contract.pod import CONTACT_PATH, OPERATOR_KEY, PROGRAM_PATH, SNAPSHOT_KEY, SNAPSHOT_PATH
from onair_crds.contract.program import Program
from onair_encoder.agent.agent import Agent
from onair_encoder.agent.control_api import ControlApi
from onair_operator.encoder.pod_identity import OperatorKey

pytestmark = pytest.mark.fuzz

KEY = OperatorKey.generate()
POD = "show-run-1"
SNAPSHOTS = "opens-nothing-else"
GIVEN = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

Request = Callable[..., Awaitable[int]]


@pytest.fixture
def asked() -> list[str]:
    """What contacts have asked the agent for."""
    return []


@pytest.fixture
async def request_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> AsyncIterator[Request]:
    """Sends a request with the operator's token, or what is in its place; gives the status."""
    (tmp_path / OPERATOR_KEY).write_text(KEY.public_pem())
    (tmp_path / SNAPSHOT_KEY).write_text(SNAPSHOTS)
    agent = Agent(tmp_path / "program.json")

    async def took(_: Program) -> None:
        """What it would do is another's test."""

    async def stopped() -> None:
        asked.append("stop")

    async def yielded() -> None:
        asked.append("yield")

    monkeypatch.setattr(agent, "take", took)
    monkeypatch.setattr(agent, "stop", stopped)
    monkeypatch.setattr(agent, "yield_place", yielded)
    token = KEY.token(POD, dt.datetime.now(dt.UTC)).encode()

    async def send(path: str, body: bytes, shown: bytes = b"Bearer " + token) -> int:
        method = "GET" if path == SNAPSHOT_PATH else "PUT"
        head = f"{method} {path} HTTP/1.1\r\nHost: {POD}\r\nContent-Length: {len(body)}\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head.encode() + b"Authorization: " + shown + b"\r\n\r\n" + body)
        status = (await reader.readline()).split()[1]
        writer.close()
        return int(status)

    async with TestServer(ControlApi(agent, tmp_path, POD).application()) as server:
        yield send
    await agent.close()


@GIVEN
@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
@example(b"[" * 100_000)
@example(b'{"replaced": "\\ud800"}')
async def test_a_body_that_is_none_is_refused(request_to: Request, body: bytes) -> None:
    for path in (PROGRAM_PATH, CONTACT_PATH):
        assert await request_to(path, body) in (200, 204, 400)


@GIVEN
@given(changed(json.loads(small_program().wire())))
async def test_a_programme_that_is_changed_anywhere_is_taken_or_refused(
    request_to: Request, body: JsonValue
) -> None:
    assert await request_to(PROGRAM_PATH, json.dumps(body).encode()) in (200, 400)


@pytest.mark.parametrize("path", [PROGRAM_PATH, SNAPSHOT_PATH])
@GIVEN
@given(st.binary(max_size=40).filter(lambda shown: not set(shown) & set(b"\r\n\0")))
@example(b"Bearer \xff")
@example(b"Bearer a.b.c")
@example(b"Bearer eyJhbGciOiJub25lIn0.e30.")
@example(b"Bearer " + base64.urlsafe_b64encode(b"[" * 3000) + b".e30.e30")
async def test_nothing_is_done_without_a_token_of_the_operators(
    request_to: Request, path: str, shown: bytes
) -> None:
    assert await request_to(path, b"{}", shown) in (400, 401)


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        (b"{}", []),
        (b'{"replaced": false, "stop": false}', []),
        (b'{"replaced": false, "stop": true}', ["stop"]),
        (b'{"replaced": true, "stop": true}', ["yield"]),
        (b'{"replaced": true}', ["yield"]),
    ],
)
async def test_a_contact_stops_an_encoder_or_has_it_yield(
    request_to: Request, asked: list[str], body: bytes, calls: list[str]
) -> None:
    assert await request_to(CONTACT_PATH, body) == 204
    assert asked == calls


async def test_nobody_but_the_operator_stops_an_encoder(request_to: Request, asked: list[str]) -> None:
    now, stop = dt.datetime.now(dt.UTC), b'{"stop": true}'
    foreign = (
        KEY.token("show-run-2", now),
        KEY.token(POD, now - dt.timedelta(minutes=5)),
        OperatorKey.generate().token(POD, now),
        SNAPSHOTS,
    )
    for shown in (b"", *(f"Bearer {token}".encode() for token in foreign)):
        assert await request_to(CONTACT_PATH, stop, shown) == 401
    assert asked == []


async def test_a_snapshot_is_given_by_its_own_token(request_to: Request) -> None:
    shown = f"Bearer {SNAPSHOTS}".encode()
    assert await request_to(SNAPSHOT_PATH, b"", shown) == 503
    assert await request_to(PROGRAM_PATH, b"", shown) == 401
