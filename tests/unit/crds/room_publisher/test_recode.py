"""What is encoded anew for rooms, and what passes through as it is."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache

import av
import numpy as np
import pytest

from onair_crds.media.flv import AUDIO, VIDEO, FlvReader, Packet
from onair_crds.media.h264 import access_unit, parameter_sets
from onair_crds.media.stream_metadata import VideoFormat, metadata_packet, video_format
from onair_crds.room_publisher import recode
from onair_crds.room_publisher.recode import KEY_TIMEOUT_S, MAX_HEIGHT, MAX_PIXELS, MAX_WIDTH, Recoder
from onair_crds.session_error import SessionError

FRAMES = 60


@cache
def encoded(
    width: int, height: int, b_frames: int, key_every: int = 30, profile: str = "high"
) -> list[Packet]:
    """Two seconds of a moving gradient as FLV has it: script, header, frames."""
    file = io.BytesIO()
    with av.open(file, "w", format="flv") as output:
        stream = output.add_stream("libx264", rate=30)
        stream.width, stream.height = width, height
        stream.pix_fmt = "yuv422p" if profile == "high422" else "yuv420p"
        groups = f"keyint={key_every}:min-keyint={key_every}:scenecut=0"
        stream.options = {
            "preset": "ultrafast",
            "profile": profile,
            "x264-params": f"bframes={b_frames}:b-adapt=0:{groups}",
        }
        for number in range(FRAMES):
            row = (np.arange(width, dtype=np.uint16) + 5 * number).astype(np.uint8)
            picture = np.repeat(np.tile(row, (height, 1))[..., None], 3, 2)
            output.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        output.mux(stream.encode(None))
    read = [each for each in FlvReader().feed(file.getvalue()) if each.type == VIDEO and each.body[1] < 2]
    return [metadata_packet(VideoFormat(width, height, 30.0, 2_000_000)), *read]


def recoded(recoder: Recoder, packets: list[Packet]) -> Iterator[Packet]:
    for packet in packets:
        yield from recoder.packets(packet, packet.timestamp_ms / 1000)


def decoded(packets: list[Packet]) -> list[av.VideoFrame]:
    decoder = av.VideoCodecContext.create("h264", "r")
    sets, frames = b"", []
    for packet in packets:
        if packet.type == VIDEO and packet.header:
            sets = parameter_sets(packet)
        elif packet.type == VIDEO:
            frames += decoder.decode(av.Packet(access_unit(packet, sets)))
    return [*frames, *decoder.decode(None)]


def never() -> bool:
    return False


def test_video_without_b_frames_passes_through_untouched() -> None:
    packets = encoded(1280, 720, 0)
    assert list(recoded(Recoder(never), packets)) == packets


@pytest.mark.parametrize(("width", "height", "size"), [(1280, 720, (640, 360)), (480, 854, (202, 360))])
def test_video_with_b_frames_is_encoded_anew_without_and_small(
    width: int, height: int, size: tuple[int, int]
) -> None:
    output = list(recoded(Recoder(never), encoded(width, height, 2)))
    form = video_format(output[0])
    assert form
    assert (form.width, form.height) == size
    assert size[0] <= MAX_WIDTH
    assert size[1] <= MAX_HEIGHT
    frames = [each for each in output if each.type == VIDEO and not each.header]
    assert frames[0].keyframe
    assert all(each.body[2:5] == b"\0\0\0" for each in frames)
    times = [each.timestamp_ms for each in frames]
    assert times == sorted(times)
    pictures = decoded(output)
    assert len(pictures) == len(frames) >= FRAMES - 4
    assert {(each.width, each.height) for each in pictures} == {size}
    assert sum(each.keyframe for each in frames) >= 3, "who joins at the beginning gets a picture at once"


def test_a_profile_that_browsers_do_not_decode_is_encoded_anew() -> None:
    output = list(recoded(Recoder(never), encoded(640, 360, 0, profile="high422")))
    assert {each.format.name for each in decoded(output)} == {"yuv420p"}


def test_key_frames_are_ours_once_a_viewer_has_waited_too_long_for_one() -> None:
    waiting = Recoder(lambda: True)
    packets = encoded(640, 360, 0, key_every=30)
    rare = [each for each in packets if not each.keyframe or each.timestamp_ms == 0]
    for packet in rare:
        waiting.packets(packet, packet.timestamp_ms / 1000 * 2)
    assert not waiting.recodes, "a key frame is where decoding can begin"
    key = next(each for each in packets if each.keyframe)
    waiting.packets(Packet(VIDEO, 5000, key.body), 5.0 + KEY_TIMEOUT_S)
    assert waiting.recodes


def test_a_request_is_met_at_once_by_what_is_encoded_anew() -> None:
    asked = iter([False] * 40 + [True] + [False] * 100)
    output = list(recoded(Recoder(lambda: next(asked)), encoded(640, 360, 2, key_every=60)))
    keys = [each.timestamp_ms for each in output if each.type == VIDEO and each.keyframe and not each.header]
    assert any(each % 500 for each in keys[1:]), keys


def test_damaged_video_gives_no_picture_and_no_error() -> None:
    packets = encoded(640, 360, 2)
    damaged = [
        each if each.type != VIDEO or each.header else Packet(VIDEO, each.timestamp_ms, each.body[:40])
        for each in packets
    ]
    assert not [each for each in recoded(Recoder(never), damaged) if each.type == VIDEO and each.keyframe]


def test_video_of_another_shape_goes_on_in_its_own() -> None:
    recoder = Recoder(never)
    list(recoded(recoder, encoded(1280, 720, 2)))
    later = [Packet(e.type, e.timestamp_ms + 3000, e.body) for e in encoded(480, 854, 2)]
    sizes = {(each.width, each.height) for each in decoded(list(recoded(recoder, later)))}
    assert sizes == {(202, 360)}


def test_audio_without_video_is_announced_and_passes_through() -> None:
    script = encoded(640, 360, 0)[0]
    sound = [Packet(AUDIO, 0, b"\xaf\0\x11\x90"), *(Packet(AUDIO, 21 * n, b"\xaf\1sound") for n in range(3))]
    assert list(recoded(Recoder(never), [script, *sound])) == [sound[0], script, *sound[1:]]


@cache
def plain(width: int, height: int) -> list[Packet]:
    """Some frames of one colour that WebRTC could not show: header, frames."""
    file = io.BytesIO()
    with av.open(file, "w", format="flv") as output:
        stream = output.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv422p"
        stream.options = {"preset": "ultrafast", "profile": "high422"}
        for _ in range(4):
            output.mux(stream.encode(av.VideoFrame(width, height, "yuv422p")))
        output.mux(stream.encode(None))
    return [each for each in FlvReader().feed(file.getvalue()) if each.type == VIDEO and each.body[1] < 2]


def announced(width: int, height: int) -> Packet:
    return metadata_packet(VideoFormat(width, height, 30.0, 2_000_000))


def test_the_largest_video_is_encoded_again() -> None:
    assert MAX_PIXELS == 4096 * 2304
    output = list(recoded(Recoder(lambda: False), [announced(4096, 2304), *plain(4096, 2304)]))
    assert {(each.width, each.height) for each in decoded(output)} == {(640, 360)}


def test_larger_video_is_refused_by_what_is_announced() -> None:
    with pytest.raises(SessionError, match="video of 4112x2304 is too large"):
        list(recoded(Recoder(lambda: False), [announced(4112, 2304), *plain(320, 180)]))


def test_larger_video_is_refused_whatever_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recode, "MOST_UNDECODED", 3)
    recoder = Recoder(lambda: False)
    header, *frames = plain(4112, 2304)
    output = list(recoded(recoder, [announced(1280, 720), header, *frames[:3]]))
    assert not decoded(output)
    with pytest.raises(SessionError, match="cannot be decoded"):
        list(recoded(recoder, frames[3:]))


def test_damage_that_passes_is_no_reason_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recode, "MOST_UNDECODED", 3)
    header, key, *others = plain(320, 180)
    damaged = Packet(VIDEO, key.timestamp_ms, key.body[:5] + b"\xff" * 40)
    given = [announced(320, 180), header, key, *[damaged] * 3, key, *[damaged] * 3, *others]
    assert list(recoded(Recoder(lambda: False), given))
