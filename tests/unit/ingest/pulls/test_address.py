"""The address that a source is pulled from, taken apart."""

from __future__ import annotations

import pytest

from onair_ingest.pulls.address import parse_address
from onair_ingest.pulls.address_guard import PullRefused


@pytest.mark.parametrize(
    ("url", "host", "port", "application", "stream"),
    [
        ("rtmp://a.example/live/key", "a.example", 1935, "live", "key"),
        ("rtmp://a.example:1936/app/instance/key", "a.example", 1936, "app/instance", "key"),
        ("rtmps://a.example/live/key?token=1", "a.example", 443, "live", "key?token=1"),
        ("rtmp://[2001:db8::1]:19/live/a%20b", "2001:db8::1", 19, "live", "a b"),
        ("rtmp://a.example/live/more#key", "a.example", 1935, "live/more", "key"),
        ("rtmp://a.example/key", "a.example", 1935, "", "key"),
    ],
)
def test_the_last_part_of_a_path_is_the_stream(
    url: str, host: str, port: int, application: str, stream: str
) -> None:
    address = parse_address(url)
    assert (address.host, address.port) == (host, port)
    assert (address.application, address.stream) == (application, stream)


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("rtmp://user:pass@a.example/live/key?token=1", "a.example:1935"),
        ("rtmps://[2001:db8::1]/live/key", "[2001:db8::1]:443"),
    ],
)
def test_messages_name_host_and_port_alone(url: str, server: str) -> None:
    assert parse_address(url).server == server


def test_mediamtx_is_sent_to_the_relay_with_application_and_stream() -> None:
    address = parse_address("rtmps://a.example/live/a b?x=1")
    assert address.by_way_of(4000) == "rtmp://127.0.0.1:4000/live#a%20b?x=1"


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/live/key",
        "rtmp:///live/key",
        "rtmp://a:b:c/x",
        "rtmp://a:99999/x",
        f"rtmp://{'a.' * 127}b/x",
    ],
)
def test_what_is_no_rtmp_is_refused_without_its_url(url: str) -> None:
    with pytest.raises(PullRefused) as refused:
        parse_address(url)
    assert url not in str(refused.value)
