"""Addresses of RTMP, and the keys that no text of them has."""

from __future__ import annotations

import pytest

from onair_crds.session_error import SessionError
from onair_encoder.publish.rtmp.address import RtmpAddress


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
