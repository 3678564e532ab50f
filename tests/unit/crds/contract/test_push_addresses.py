"""Addresses of RTMP and SRT, which of them are one stream, and the keys that no text of them has."""

from __future__ import annotations

import pytest

from onair_crds.contract.push_addresses import RtmpAddress, SrtAddress
from onair_crds.session_error import SessionError

Given = tuple[str, str | None]


@pytest.mark.parametrize(
    ("url", "key", "server", "app", "stream"),
    [
        ("rtmp://a.example/live", "k", "a.example:1935", "live", "k"),
        ("rtmps://a.example/live2/", "k", "a.example:443", "live2", "k"),
        ("rtmp://a.example:1936/app/instance", "k", "a.example:1936", "app/instance", "k"),
        ("rtmp://a.example/live/k", None, "a.example:1935", "live", "k"),
        ("rtmp://a.example/live/k/", None, "a.example:1935", "live", "k"),
        ("rtmp://a.example/live/k?token=t", None, "a.example:1935", "live", "k?token=t"),
        ("RTMP://A.Example/Live/K", None, "a.example:1935", "Live", "K"),
        ("rtmp://a.example/live/a%2Fb", None, "a.example:1935", "live", "a%2Fb"),
        ("rtmp://[2001:db8::1]/live", "k", "[2001:db8::1]:1935", "live", "k"),
    ],
)
def test_rtmp_addresses(url: str, key: str | None, server: str, app: str, stream: str) -> None:
    address = RtmpAddress.of(url, key)
    assert (address.server, address.app, address.key) == (server, app, stream)


def test_a_key_is_in_no_text() -> None:
    address = RtmpAddress.of("rtmp://a.example/live", "s3cret")
    assert "s3cret" not in f"{address} {address!r} {address.tc_url}"


@pytest.mark.parametrize(
    "url",
    ["rtmp:///live", "rtmp://a.example", "rtmp://a.example:99999/live/k", "http://a/b", "rtmp://[abc/live/k"],
)
def test_unusable_rtmp_addresses_say_why(url: str) -> None:
    with pytest.raises(SessionError, match="the url") as lost:
        RtmpAddress.of(url, None)
    assert lost.value.permanent


@pytest.mark.parametrize(
    ("url", "key", "expected"),
    [
        ("srt://a.example:9000", None, ("a.example:9000", "", 120, 16)),
        ("srt://a.example:9000", "k", ("a.example:9000", "k", 120, 16)),
        ("srt://a.example:9000?streamid=s&latency=400", "k", ("a.example:9000", "s", 400, 16)),
        ("srt://a.example:9000/?StreamId=a%2Fb+c&pbkeylen=32&mode=caller&tlpktdrop=1", None,
         ("a.example:9000", "a/b+c", 120, 32)),
        ("srt://a.example:9000?streamid=#!::r=live/k,m=publish", None,
         ("a.example:9000", "#!::r=live/k,m=publish", 120, 16)),
        ("srt://[2001:db8::1]:9000", None, ("[2001:db8::1]:9000", "", 120, 16)),
    ],
)  # fmt: skip
def test_srt_addresses(url: str, key: str | None, expected: tuple[str, str, int, int]) -> None:
    address = SrtAddress.of(url, key)
    assert (address.server, address.stream_id, address.latency_ms, address.key_bytes) == expected


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("srt://:9000", "no server"),
        ("srt://[abc:9000", "cannot be read"),
        ("srt://a.example", "no port"),
        ("srt://a.example:99999", "not a number"),
        ("srt://a.example:9000?mode=listener", "mode other than caller"),
        ("srt://a.example:9000?latency=soon", "latency"),
        ("srt://a.example:9000?latency=30001", "latency"),
        ("srt://a.example:9000?pbkeylen=8", "pbkeylen"),
        ("srt://a.example:9000?passphrase=0123456789", "belongs in a Secret"),
        (f"srt://a.example:9000?streamid={'x' * 513}", "longer than 512"),
    ],
)
def test_unusable_srt_addresses_say_why(url: str, words: str) -> None:
    with pytest.raises(SessionError, match=words) as lost:
        SrtAddress.of(url, None)
    assert lost.value.permanent
    assert "0123456789" not in str(lost.value)


def test_a_stream_id_is_in_no_text() -> None:
    assert "s3cret" not in repr(SrtAddress.of("srt://a.example:1?streamid=s3cret", None))


def stream(given: Given) -> tuple[str, ...]:
    return (SrtAddress if given[0].lower().startswith("srt:") else RtmpAddress).of(*given).stream


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("rtmp://a.example/live/k", None), ("rtmp://a.example:1935/live/k", None)),
        (("rtmps://a.example/live/k", None), ("rtmps://a.example:443/live/k", None)),
        (("rtmp://a.example/live/k", None), ("RTMP://A.example./live", "k")),
        (("rtmp://a.example/live/k", None), ("rtmp://a.example/live/k/", None)),
        (("rtmp://a.example/live/x", "k"), ("rtmp://a.example/live", "x/k")),
        (("rtmp://a.example", "k"), ("rtmp://a.example/k", None)),
        (("rtmp://a.example/live/k?t=1", None), ("rtmp://a.example/live", "k?t=1")),
        (("rtmp://[2001:db8::1]/live/k", None), ("rtmp://[2001:DB8:0::1]:1935/live/k", None)),
        (("srt://a.example:9000?streamid=k", None), ("srt://A.example:9000/?StreamId=%6B&latency=400", None)),
        (("srt://a.example:9000?streamid=#!::r=k", None), ("srt://a.example:9000", "#!::r=k")),
        (("srt://a.example:9000?streamid=%23!::r=k", None), ("srt://a.example:9000?streamid=#!::r=k", None)),
        (("srt://a.example:9000?streamid=", "k"), ("srt://a.example:9000?streamid=k", None)),
        (("srt://[2001:db8::1]:9000", None), ("srt://[2001:db8:0:0::1]:9000", None)),
    ],
)  # fmt: skip
def test_one_stream_in_two_spellings(one: Given, other: Given) -> None:
    assert stream(one) == stream(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("rtmp://a.example/live/k", None), ("rtmp://a.example:1936/live/k", None)),
        (("rtmp://a.example/live/k", None), ("rtmp://a.example/live/K", None)),
        (("rtmp://a.example/live/k", None), ("rtmp://b.example/live/k", None)),
        (("rtmp://a.example/live/k?t=1", None), ("rtmp://a.example/live/k?t=2", None)),
        (("srt://a.example:9000?streamid=#!::r=k", None), ("srt://a.example:9000?streamid=#!::r=l", None)),
        (("srt://a.example:9000?StreamId=k", None), ("srt://a.example:9000?StreamId=l", None)),
        (("srt://a.example:9000?streamid=a+b", None), ("srt://a.example:9000?streamid=a b", None)),
        (("srt://a.example:9000?streamid=k", None), ("srt://a.example:9001?streamid=k", None)),
    ],
)  # fmt: skip
def test_two_streams(one: Given, other: Given) -> None:
    assert stream(one) != stream(other)
