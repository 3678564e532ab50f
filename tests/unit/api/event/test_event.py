"""Events as frames of each transport."""

from __future__ import annotations

import orjson

from onair_api.access.target import Target
from onair_api.event.event import Event, Format, Position, dumps


def event(origin: str | None = None, correlation_id: str | None = None) -> Event:
    return Event("e", b"{}", Target(), "s", Position(1), (), origin=origin, correlation_id=correlation_id)


def test_all_receivers_share_one_frame_until_it_was_delivered() -> None:
    made = event()
    first = made.frame_for("a", Format.NDJSON)
    assert made.frame_for("b", Format.NDJSON) is first
    made.drop_frames()
    assert made.frame_for("a", Format.NDJSON) is not first
    assert made.frame_for("a", Format.NDJSON) == first


def test_a_session_that_may_not_see_addresses_gets_the_event_without() -> None:
    made = Event("e", b"1", Target(), "s", Position(1), (), reduced_body=b"2")
    whole, reduced = (made.frame_for("a", Format.NDJSON, reduced=each) for each in (False, True))
    assert [orjson.loads(frame)["result"]["event"] for frame in (whole, reduced)] == [1, 2]
    assert event().frame_for("a", Format.NDJSON, reduced=True) == event().frame_for("a", Format.NDJSON)
    assert made.size == 2


def test_only_the_connection_that_published_it_sees_the_correlation_id() -> None:
    made = event(origin="a", correlation_id="c")
    own, others = (orjson.loads(made.frame_for(each, Format.NDJSON)) for each in ("a", "b"))
    assert own["result"]["correlationId"] == "c"
    assert "correlationId" not in others["result"]


def test_a_message_is_one_line_for_every_client() -> None:
    text = "\u0085 \u2028 \u2029 ü"
    for format_ in (Format.NDJSON, Format.SSE):
        frame = format_.frame(orjson.dumps({"a": text})).decode()
        assert len(frame.strip().splitlines()) == 1
        assert orjson.loads(frame.removeprefix("data: ")) == {"a": text}
    assert "ü" in frame


def test_a_text_frame_has_the_shortest_length_that_fits() -> None:
    for size, head in (
        (125, b"\x81\x7d"),
        (126, b"\x81\x7e\x00\x7e"),
        (65_536, b"\x81\x7f" + b"\0\0\0\0\0\1\0\0"),
    ):
        assert Format.WEBSOCKET.frame(b"x" * size) == head + b"x" * size


def test_integers_of_more_than_64_bits_survive() -> None:
    assert orjson.loads(dumps({"a": 1})) == {"a": 1}
    assert dumps({"a": 2**80}) == b'{"a":%d}' % 2**80
