"""Signalling goes to the room server by the agent's own token."""

from __future__ import annotations

import pytest

from onair_crds.contract.program import ProgramRoomServer
from onair_encoder.studio.room_signalling import signalling_url

SERVER = ProgramRoomServer.model_validate({"url": "http://rooms.example:7880/", "token": "of+the=agent"})


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("/rtc?access_token=page&sdk=js", "/rtc?sdk=js&access_token=of%2Bthe%3Dagent"),
        ("/rtc/v1?sdk=js&access%5Ftoken=page", "/rtc/v1?sdk=js&access_token=of%2Bthe%3Dagent"),
        ("/rtc?publish=host&reconnect=1&sid=PA_1", "/rtc?reconnect=1&sid=PA_1&access_token=of%2Bthe%3Dagent"),
        (
            "/rtc?p%75blish=host&&join_request=a%2Bb%3D",
            "/rtc?join_request=a%2Bb%3D&access_token=of%2Bthe%3Dagent",
        ),
        ("/rtc", "/rtc?access_token=of%2Bthe%3Dagent"),
    ],
)
def test_the_page_s_own_words_pass_but_for_who_joins(target: str, wanted: str) -> None:
    assert str(signalling_url(SERVER, f"/webrtc/v2{target}")) == f"http://rooms.example:7880{wanted}"


@pytest.mark.parametrize(
    "target", ["/webrtc/v2/rtc/validate", "/webrtc/v2", "/webrtc/v2/rtc/", "/live/v2/rtc", "/rtc", "/twirp/x"]
)
def test_nothing_else_of_the_room_server_is_reached(target: str) -> None:
    assert signalling_url(SERVER, f"{target}?a=b") is None
