"""Readers that are slow, and readers that take nothing."""

from __future__ import annotations

import uuid

import pytest
from tests.support.event_client import PUBLISH, RawStream, SignIn, WebSocket
from tests.support.facade import FacadeThread, metric
from tests.support.waiting import wait_for


def test_a_slow_reader_gets_a_report_of_its_loss_and_goes_on(
    own: FacadeThread, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine takes longer to fill its backlog than a reader may take nothing
    monkeypatch.setattr(own.settings.events, "stalled_after_s", 60.0)
    host = sign_in(facade=own)
    with WebSocket(own, host.token) as quick, RawStream(own, host) as slow:
        quick.subscribe()
        payload = {"x": "y" * 60_000}
        count, before = 0, dropped(own)
        while dropped(own) == before:
            assert host.call("POST", PUBLISH, {"name": f"e{count}", "payload": payload}).is_success
            assert quick.next()["result"]["event"]["name"] == f"e{count}", "others lose nothing"
            count += 1
            assert count < 2000
        messages = slow.read_until(lambda m: m["result"].get("error", {}).get("code") == 15)
        received = [m["result"]["event"]["name"] for m in messages if "event" in m["result"]]
        assert received == [f"e{n}" for n in range(len(received))], "in order up to the loss"
        assert host.call("POST", PUBLISH, {"name": "last", "payload": {}}).is_success
        messages = slow.read_until(lambda m: m["result"].get("event", {}).get("name") == "last")
        numbers = [int(m["result"]["event"]["name"][1:]) for m in messages[:-1] if "event" in m["result"]]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_reader_that_is_gone_before_it_has_read_of_its_loss_is_told_as_it_comes_back(
    own: FacadeThread, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    monkeypatch.setattr(own.settings.events, "stalled_after_s", 60.0)
    host = sign_in(facade=own)
    session_id = uuid.uuid4().hex
    with RawStream(own, host, websocket=transport == "websocket", sessionId=session_id):
        payload = {"x": "y" * 60_000}
        count, before = 0, dropped(own)
        while dropped(own) == before:
            assert host.call("POST", PUBLISH, {"name": "e", "payload": payload}).is_success
            count += 1
            assert count < 2000
    streams = own.services.events.streams
    wait_for(lambda: streams.open_sessions == streams.closing_sessions == 0, "it is gone, and kept")
    with WebSocket(own, host.token, sessionId=session_id) as back:
        back.subscribe()
        assert back.next()["result"]["error"]["code"] == 15


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_reader_that_takes_nothing_is_cut(own: FacadeThread, sign_in: SignIn, transport: str) -> None:
    host = sign_in(facade=own)
    with RawStream(own, host, websocket=transport == "websocket"):
        payload = {"x": "y" * 60_000}

        def gone() -> bool:
            host.call("POST", PUBLISH, {"name": "e", "payload": payload})
            return own.services.events.streams.open_sessions == 0

        wait_for(gone, "the stream is cut", 30)


def dropped(facade: FacadeThread) -> float:
    return metric(facade, 'onair_api_events_dropped_total{reason="slow_reader"}') or 0.0
