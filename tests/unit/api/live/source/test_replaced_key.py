"""An update has the stream key replaced where its mask names the key, and only then."""

from __future__ import annotations

import pytest
from tests.support.masks import LargeMask

from onair_api.errors import InvalidArgument
from onair_api.live.source.replaced_key import without_key
from onair_crds.shapes import JsonObject


@pytest.mark.parametrize(
    ("message", "rest", "member"),
    [
        ({"updateMask": "metadata", "metadata": 1}, {"updateMask": "metadata", "metadata": 1}, None),
        ({"address": {"rtmpPush": {"key": "k"}}}, {"address": {"rtmpPush": {"key": "k"}}}, None),
        ({"updateMask": "address"}, {"updateMask": "address"}, None),
        ({"updateMask": 5}, {"updateMask": 5}, None),
        ({"updateMask": "address.rtmpPush.key", "metadata": 1}, {}, "rtmpPush"),
        ({"update_mask": " address.srt_push.stream_id ,"}, {}, "srtPush"),
        (
            {"updateMask": "metadata,address.rtmpPush.key", "metadata": 1, "address": {"rtmpPush": {}}},
            {"updateMask": "metadata", "metadata": 1, "address": {"rtmpPush": {}}},
            "rtmpPush",
        ),
    ],
)
def test_the_key_is_taken_out_of_the_mask(message: JsonObject, rest: JsonObject, member: str | None) -> None:
    assert without_key(message) == (rest, member)


@pytest.mark.parametrize(
    "message",
    [
        {"updateMask": "address.rtmpPush.key", "address": {"rtmpPush": {"key": "mine"}}},
        {"updateMask": "address.rtmpPush.key,address.srtPush.streamId"},
        {"update_mask": LargeMask("address.rtmpPush.key," + "a," * 500_000)},
    ],
    ids=["chosen", "of both kinds", "very many names"],
)
def test_what_cannot_be_is_refused(message: JsonObject) -> None:
    with pytest.raises(InvalidArgument):
        without_key(message)


@pytest.mark.parametrize("address", [None, 5, [], {"rtmpPush": None}, {"rtmpPush": "key"}])
def test_an_address_that_is_none_is_no_crash(address: object) -> None:
    message = {"updateMask": "address.rtmpPush.key", "address": address}
    assert without_key(message) == ({}, "rtmpPush")
