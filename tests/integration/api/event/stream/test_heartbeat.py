"""Streams with nothing to say."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterator

import httpx
import pytest
from tests.support.event_client import HttpStream, SignIn, WebSocket
from tests.support.facade import FacadeThread, StartFacade
from tests.support.waiting import wait_for

from onair_api import __main__ as facade_program
from onair_api.settings import EventSettings


@pytest.fixture
def brisk(start_facade: StartFacade) -> Iterator[FacadeThread]:
    with start_facade(events=EventSettings(heartbeat_s=0.1, drain_s=0.2)) as facade:
        yield facade


def test_server_sent_events_have_comments(brisk: FacadeThread, sign_in: SignIn) -> None:
    headers = {**sign_in(facade=brisk).headers, "Accept": "text/event-stream"}
    with (
        httpx.Client(base_url=brisk.url, trust_env=False, timeout=10) as client,
        client.stream("GET", "/event/v2/stream", headers=headers) as response,
    ):
        lines = [line for line in itertools.islice(response.iter_lines(), 6) if line]
    assert lines == [": open", ": heartbeat", ": heartbeat"]


def test_lines_of_json_have_pongs_and_events_between(brisk: FacadeThread, sign_in: SignIn) -> None:
    user = sign_in(facade=brisk)
    session = "studio-9"
    with HttpStream(brisk, user, sessionid=session, sse=False, **{"subscribe.name": "*"}) as lines:
        assert "subscribed" in lines.next()["result"]
        for _ in range(2):
            assert lines.next() == {"result": {"sessionId": session, "pong": ""}}
        collection = user.collection()
        found = (lines.next()["result"] for _ in range(100))
        event = next(each["event"] for each in found if "event" in each)
        assert collection in json.dumps(event)


def test_websockets_are_pinged(
    start_facade: StartFacade,
    sign_in: SignIn,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(facade_program, "PING_INTERVAL_S", 0.1)  # uvicorn's own is 20 s
    caplog.set_level(logging.DEBUG, "websockets.client")
    with start_facade() as facade, WebSocket(facade, sign_in(facade=facade).token):
        wait_for(lambda: "< PING" in caplog.text, "a ping", 10)
