"""AMF0, chunks, addresses, errors in words, back-off."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import ssl
from itertools import pairwise
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.contract.program import ProgramDestination
from onair_encoder.media import amf
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish import publisher as publisher_module
from onair_encoder.publish.backoff import Backoff
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.rtmp.chunks import ChunkReader, message_chunks
from onair_encoder.publish.rtmp.connection import RtmpAddress
from onair_encoder.publish.session_error import SessionError, network_error

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=4),
)


@given(st.lists(VALUES, max_size=6))
def test_amf_round_trips(values: list[object]) -> None:
    assert amf.decode(amf.encode(*values)) == values


@given(st.binary(max_size=60))
def test_amf_that_is_cut_short_is_an_error_and_nothing_worse(data: bytes) -> None:
    with contextlib.suppress(amf.AmfError):
        amf.decode(data)


def test_a_long_string_round_trips() -> None:
    assert amf.decode(amf.encode("x" * 70_000)) == ["x" * 70_000]


@given(
    st.lists(
        st.tuples(st.sampled_from([4, 6]), st.integers(0, 2**32 - 1), st.binary(max_size=900)), max_size=8
    ),
    st.integers(1, 300),
)
def test_chunks_become_the_messages_they_were(messages: list[tuple[int, int, bytes]], piece: int) -> None:
    wire = b"".join(
        part
        for stream, time_ms, body in messages
        for part in message_chunks(stream, 9, 1, time_ms, body, chunk_size=128)
    )
    reader = ChunkReader()
    read = [m for i in range(0, len(wire), piece) for m in reader.feed(wire[i : i + piece])]
    assert [(m.timestamp_ms, m.body) for m in read] == [(t, b) for _, t, b in messages]


@pytest.mark.parametrize(
    ("url", "key", "server", "app", "stream"),
    [
        ("rtmp://a.example/live", "k", "a.example:1935", "live", "k"),
        ("rtmps://a.example/live2/", "k", "a.example:443", "live2", "k"),
        ("rtmp://a.example:1936/app/instance", "k", "a.example:1936", "app/instance", "k"),
        ("rtmp://a.example/live/k", None, "a.example:1935", "live", "k"),
        ("rtmp://a.example/live/k?token=t", None, "a.example:1935", "live", "k?token=t"),
        ("rtmp://[2001:db8::1]/live", "k", "[2001:db8::1]:1935", "live", "k"),
    ],
)
def test_addresses(url: str, key: str | None, server: str, app: str, stream: str) -> None:
    address = RtmpAddress.of(url, key)
    assert (address.server, address.app, address.key) == (server, app, stream)


def test_a_key_is_in_no_text() -> None:
    address = RtmpAddress.of("rtmp://a.example/live", "s3cret")
    assert "s3cret" not in f"{address} {address!r} {address.tc_url}"


@pytest.mark.parametrize(
    "url", ["rtmp:///live", "rtmp://a.example", "rtmp://a.example:99999/live/k", "http://a/b"]
)
def test_unusable_addresses_say_why(url: str) -> None:
    with pytest.raises(SessionError, match="the url"):
        RtmpAddress.of(url, None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(), "connection refused by a.example:1935"),
        (socket.gaierror(-2, "x"), "a.example: name not found"),
        (ConnectionResetError(), "connection reset by a.example:1935"),
        (TimeoutError(), "no answer from a.example:1935"),
        (ssl.SSLError(1, "x"), "a.example:1935: TLS failed: handshake refused"),
        (ssl.SSLEOFError(8, "x"), "a.example:1935: TLS was cut off"),
        (socket.gaierror(-3, "x"), "a.example: the name server does not answer"),
        (OSError(101, "Network is unreachable"), "a.example:1935: Network is unreachable"),
    ],
)
def test_errors_are_told_in_words(error: Exception, words: str) -> None:
    assert words in str(network_error(error, "a.example", "a.example:1935"))


def test_back_off_grows_to_its_limit_and_starts_anew() -> None:
    backoff = Backoff(lambda low, high: high)
    assert [backoff.next_s() for _ in range(11)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30]
    backoff.reset()
    assert backoff.next_s() == 0.1


def test_what_only_a_change_can_mend_is_tried_again_slowly() -> None:
    backoff = Backoff(lambda low, high: low)
    assert [backoff.next_s(permanent=True) for _ in range(2)] == [15, 15]


class Refused(Publisher):
    """Attempts that take longer than a session must hold to count as steady, and never come to one."""

    attempts: ClassVar[list[float]] = []

    async def session(self) -> None:
        self.attempts.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.03)
        raise SessionError("no answer")


async def test_attempts_without_a_session_do_not_start_the_back_off_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher_module, "STEADY_S", 0.02)
    monkeypatch.setattr(random, "uniform", lambda _, high: high)
    destination = ProgramDestination(id="d", type="RTMP", url="rtmp://a.example/live", timeout_ms=1000)
    refused = Refused(destination, FanOut(), lambda: None)
    async with asyncio.timeout(10):
        while len(refused.attempts) < 5:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    refused.abort()
    gaps = [b - a for a, b in pairwise(refused.attempts)]
    assert all(gap >= wait_s for gap, wait_s in zip(gaps, (0.1, 0.2, 0.4, 0.8), strict=True))
