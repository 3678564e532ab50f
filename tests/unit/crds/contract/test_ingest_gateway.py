"""What is said to gateways: names of streams and tokens give no key away, and secrets are masked."""

from __future__ import annotations

import pytest

from onair_crds.contract.ingest_gateway import (
    PublishRequest,
    Pull,
    Pulls,
    StreamState,
    gateway_token,
    reader_token,
    stream_of_key,
    stream_of_pull,
)

KEY = "k9q2m7x4c1v8b3n6"


def test_a_stream_s_name_follows_from_its_key_and_does_not_tell_it() -> None:
    assert stream_of_key(KEY) == stream_of_key(KEY) != stream_of_key(KEY + "x")
    assert KEY not in stream_of_key(KEY)
    assert stream_of_pull("source-a") != stream_of_key("source-a")


def test_each_token_opens_one_thing_of_one_installation() -> None:
    ours, others = b"ours", b"another installation's"
    tokens = {
        gateway_token(ours, "operator"),
        gateway_token(ours, "facade"),
        gateway_token(others, "operator"),
        reader_token(ours, "a"),
        reader_token(ours, "b"),
        reader_token(others, "a"),
    }
    assert len(tokens) == 6


def test_keys_and_urls_are_in_clear_on_the_wire_alone() -> None:
    request = PublishRequest(stream_key=KEY, protocol="rtmp", gateway="onair-ingest-0")
    pulls = Pulls(pulls={stream_of_pull("a"): Pull(url=f"rtmp://far.example/live/{KEY}")})
    for message in (request, pulls):
        assert KEY in message.wire()
        assert KEY not in repr(message) + message.model_dump_json()


def test_a_state_survives_the_wire_and_unknown_fields_of_a_newer_gateway() -> None:
    state = StreamState(stream="a", online=True, flowing=False, since="2026-01-01T00:00:00Z", protocol="srt")
    newer = state.wire().removesuffix("}") + ', "rotation": 90}'
    assert StreamState.model_validate_json(newer) == state


@pytest.mark.parametrize("since", ["", "yesterday", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z"])
def test_a_state_whose_time_is_none_is_no_state(since: str) -> None:
    with pytest.raises(ValueError, match="since"):
        StreamState(stream="a", online=True, flowing=True, since=since, protocol="rtmp")
