"""Signalling goes to the room server by the agent's own token."""

from __future__ import annotations

import pytest

from onair_crds.contract.program import ProgramRoomServer
from onair_encoder.studio.room_signalling import renews_token, room_signalling

SERVER = ProgramRoomServer.model_validate({"url": "http://rooms.example:7880/", "token": "of+the=agent"})


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("/rtc?access_token=page&sdk=js", "/rtc?sdk=js"),
        ("/rtc/v1?sdk=js&access%5Ftoken=page", "/rtc/v1?sdk=js"),
        ("/rtc?publish=host&reconnect=1&sid=PA_1", "/rtc?reconnect=1&sid=PA_1"),
        (
            "/rtc?p%75blish=host&&join_request=a%2Bb%3D",
            "/rtc?join_request=a%2Bb%3D",
        ),
        ("/rtc", "/rtc"),
    ],
)
def test_the_page_s_own_words_pass_but_for_who_joins(target: str, wanted: str) -> None:
    found = room_signalling(SERVER, f"/webrtc/v2{target}")
    assert found
    assert str(found.url) == f"http://rooms.example:7880{wanted}"
    assert found.headers == {"Authorization": "Bearer of+the=agent"}


@pytest.mark.parametrize(
    "target", ["/webrtc/v2/rtc/validate", "/webrtc/v2", "/webrtc/v2/rtc/", "/live/v2/rtc", "/rtc", "/twirp/x"]
)
def test_nothing_else_of_the_room_server_is_reached(target: str) -> None:
    assert room_signalling(SERVER, f"{target}?a=b") is None


@pytest.mark.parametrize(
    ("message", "renews"),
    [
        (b"\x82\x01\x05eyJhb", True),
        (b"\x0a\x02\x82\x01", False),
        (b"", False),
        ('{"refreshToken":"eyJhb"}', True),
        ('{ "refreshToken": "eyJhb"}', True),
        ('{"join":{"room":{"name":"refreshToken"}}}', False),
        ("", False),
    ],
)
def test_a_renewed_token_is_known_in_both_forms_of_signalling(message: str | bytes, renews: bool) -> None:
    assert renews_token(message) is renews
