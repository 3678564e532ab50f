"""A server's words: what they mean, and that they repeat no key."""

from __future__ import annotations

import pytest

from onair_crds.contract.push_addresses import RtmpAddress
from onair_encoder.publish.rtmp.refusals import MAX_REASON, ended_by, refusal

ADDRESS = RtmpAddress.of("rtmp://a.example/live?token=t0ken", "s3cret")


@pytest.mark.parametrize(
    ("status", "words", "permanent"),
    [
        ({"code": "NetStream.Publish.BadName"}, "refuses the stream key, or it is in use", False),
        ({"code": "NetStream.Publish.Denied"}, "refuses the stream key", True),
        ({"code": "NetStream.Unpublish.Success", "level": "status"}, "the server ended the stream", False),
        ({"code": "NetConnection.Connect.Rejected", "description": "quota"}, "refused: quota", False),
        ({"code": "X", "level": "error"}, "refused: X", False),
    ],
)
def test_a_status_that_ends_the_stream(status: dict[str, object], words: str, permanent: bool) -> None:
    error = ended_by(ADDRESS, status)
    assert error
    assert words in str(error)
    assert error.permanent is permanent


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"code": "NetStream.Data.Start"},
        {"code": "NetStream.Publish.Idle", "level": "status"},
        {"code": "NetStream.Record.NoAccess", "level": "error"},
        {"code": "NetStream.Record.Failed", "level": "error"},
        {"code": "NetStream.Play.StreamNotFound", "level": "error"},
        {"code": "NetStream.Seek.Failed", "level": "error"},
    ],
)
def test_a_status_that_ends_nothing(status: dict[str, object]) -> None:
    assert ended_by(ADDRESS, status) is None


@pytest.mark.parametrize("info", [None, 1.0, [], {}, {"description": {}}, ""])
def test_an_error_without_a_reason_has_words_too(info: object) -> None:
    assert str(refusal(ADDRESS, info)) == "a.example:1935 refused: no reason given"


def test_no_key_is_repeated() -> None:
    said = {"description": "no s3cret?token=t0ken at s3cret,\nt0ken " + "x" * 999}
    text = str(refusal(ADDRESS, said))
    assert text.startswith("a.example:1935 refused: no … at …, … xxx")
    assert len(text) < MAX_REASON + 40
