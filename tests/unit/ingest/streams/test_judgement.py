"""What is told of streams, look by look."""

from __future__ import annotations

import datetime as dt
from typing import Any

from onair_ingest.mediamtx.records import Path
from onair_ingest.streams.judgement import (
    SERVER_ENDED,
    SILENT,
    UNRESPONSIVE,
    Judgement,
    Look,
    Moment,
)

BEGAN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
H264 = {"codec": "H264", "codecProps": {"profile": "High", "width": 1280, "height": 720}}
AAC = {"codec": "MPEG-4 Audio", "codecProps": {"sampleRate": 44100, "channelCount": 1}}


def at(seconds: float) -> Moment:
    return Moment(1000 + seconds, BEGAN + dt.timedelta(seconds=seconds))


def look(
    received: int,
    connection: str = "c1",
    tracks: list[dict[str, Any]] | None = None,
    path_name: str = "live/key",
    stream: str = "s",
    source_type: str = "rtmpConn",
) -> Look:
    path = Path.model_validate(
        {
            "name": path_name,
            "available": True,
            "availableTime": "2025-12-31T23:00:00Z",
            "source": {"type": source_type, "id": connection},
            "tracks2": [H264, AAC] if tracks is None else tracks,
            "inboundBytes": received,
        }
    )
    assert path.source
    return Look(stream, path, path.source, "203.0.113.40")


def begun() -> Judgement:
    """A gateway that found an empty server."""
    judgement = Judgement(silent_after_s=1.0)
    assert judgement.look([], at(0)) == []
    return judgement


def test_a_new_stream_flows_with_its_first_bytes() -> None:
    (state,) = begun().look([look(100)], at(1))
    assert (state.online, state.flowing, state.since) == (True, True, "2026-01-01T00:00:01.000Z")
    assert state.publisher == "203.0.113.40"
    assert state.video
    assert state.audio
    assert (state.video.codec, state.video.profile) == ("H264", "High")
    assert (state.video.width, state.video.height) == (1280, 720)
    assert (state.audio.codec, state.audio.sample_rate, state.audio.channels) == ("AAC", 44100, 1)


def test_a_track_that_is_neither_picture_nor_sound_is_no_audio() -> None:
    (state,) = begun().look([look(100, tracks=[H264, {"codec": "KLV"}, AAC])], at(1))
    assert state.audio
    assert state.audio.codec == "AAC"
    (state,) = begun().look([look(100, tracks=[{"codec": "KLV"}, H264])], at(1))
    assert state.audio is None


def test_nothing_is_told_while_nothing_changes() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    assert judgement.look([look(200)], at(1.25)) == []


def test_a_stream_whose_bytes_stand_still_for_a_second_is_silent_and_flows_again_with_the_next() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    assert judgement.look([look(100)], at(1.9)) == []
    (silent,) = judgement.look([look(100)], at(2.1))
    assert (silent.online, silent.flowing, silent.error) == (True, False, SILENT)
    assert silent.since == "2026-01-01T00:00:02.100Z"
    (again,) = judgement.look([look(101)], at(3))
    assert (again.flowing, again.error, again.since) == (True, None, "2026-01-01T00:00:03.000Z")


def test_a_connection_without_media_is_online_and_does_not_flow() -> None:
    judgement = begun()
    (state,) = judgement.look([look(0)], at(1))
    assert (state.online, state.flowing, state.error) == (True, False, None)
    assert judgement.look([look(0)], at(5)) == []


def test_a_stream_that_is_gone_is_told_once_more() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    (state,) = judgement.look([], at(1.25))
    assert (state.online, state.flowing) == (False, False)
    assert state.error
    assert judgement.look([], at(1.5)) == []


def test_an_encoder_that_reconnects_between_two_looks_goes_on() -> None:
    judgement = begun()
    judgement.look([look(100_000)], at(1))
    assert judgement.look([look(50, "c2")], at(1.25)) == []


def test_a_server_that_is_gone_ends_every_stream_at_once() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    (state,) = judgement.ended(at(1.25))
    assert (state.online, state.flowing, state.error) == (False, False, SERVER_ENDED)
    assert state.unknown, "it may come back with its server"
    assert judgement.ended(at(1.5)) == []
    assert list(judgement.unknown()) == [state], "whoever begins to follow is told too"


def test_a_stream_that_a_server_comes_back_without_is_known_to_be_gone() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    judgement.ended(at(1.25))
    (state,) = judgement.look([], at(3))
    assert (state.online, state.error, state.unknown) == (False, SERVER_ENDED, False)
    assert judgement.look([], at(3.25)) == []
    assert not list(judgement.unknown())


def test_a_stream_that_comes_back_with_its_server_flows() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    judgement.ended(at(1.25))
    (state,) = judgement.look([look(10, "c2")], at(3))
    assert (state.online, state.flowing, state.unknown, state.error) == (True, True, False, None)


def test_a_gateway_that_ends_takes_what_it_pulls_with_it() -> None:
    judgement = begun()
    judgement.look([look(100), look(100, stream="pull-relay", source_type="rtmpSource")], at(1))
    (state,) = judgement.left(at(2))
    assert (state.stream, state.online, state.unknown) == ("pull-relay", False, True)


def test_a_server_that_is_slow_makes_no_stream_silent_until_it_is_too_slow() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    assert judgement.not_responding(at(3)) == []
    (state,) = judgement.not_responding(at(3.6))
    assert (state.online, state.flowing, state.error) == (True, False, UNRESPONSIVE)
    assert judgement.not_responding(at(4)) == []
    (again,) = judgement.look([look(200)], at(5))
    assert (again.flowing, again.error) == (True, None)


def test_streams_that_a_new_gateway_finds_are_told_when_it_is_known_whether_they_flow() -> None:
    judgement = Judgement(silent_after_s=1.0)
    judgement.look([look(100)], at(0))
    assert not judgement.settled(1000)
    (state,) = judgement.look([look(200)], at(0.25))
    assert judgement.settled(1000.25)
    assert (state.flowing, state.since) == (True, "2025-12-31T23:00:00.000Z")


def test_a_silent_stream_that_a_new_gateway_finds_is_never_told_as_flowing() -> None:
    judgement = Judgement(silent_after_s=1.0)
    (found,) = judgement.look([look(100)], at(0))
    assert not found.flowing
    assert judgement.look([look(100)], at(1.1)) == []
    assert judgement.settled(1001.1)


def test_a_changed_size_is_told_and_the_frame_rate_is_measured_anew() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    (measured,) = judgement.measured(look(100), 29.97)
    assert measured.video
    assert measured.video.framerate == 29.97
    assert judgement.look([look(200)], at(1.25)) == []
    portrait = {"codec": "H264", "codecProps": {"width": 720, "height": 1280}}
    (changed,) = judgement.look([look(300, tracks=[portrait])], at(1.5))
    assert changed.video
    assert (changed.video.width, changed.video.framerate, changed.audio) == (720, None, None)


def test_the_frame_rate_of_a_connection_that_was_replaced_is_dropped() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    judgement.look([look(100, "c2")], at(1.25))
    assert judgement.measured(look(100, "c1"), 60.0) == []


def test_the_frame_rate_of_another_connection_with_the_same_tracks_is_measured_anew() -> None:
    judgement = begun()
    judgement.look([look(100)], at(1))
    judgement.measured(look(100), 29.97)
    (changed,) = judgement.look([look(100, "c2")], at(1.25))
    assert changed.video
    assert (changed.video.width, changed.video.framerate) == (1280, None)


def test_of_two_paths_of_a_stream_the_one_that_flows_counts_in_any_order() -> None:
    for silent_first in (True, False):
        judgement = begun()
        judgement.look([look(100)], at(1))
        judgement.look([look(100)], at(2.5))
        both = [look(100), look(50, "c2", path_name="key")]
        (state,) = judgement.look(both if silent_first else both[::-1], at(2.75))
        assert state.flowing
