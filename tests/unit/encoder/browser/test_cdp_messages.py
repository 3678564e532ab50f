"""A browser's messages are taken apart as they come, and a huge one does no harm."""

from __future__ import annotations

import pytest

from onair_encoder.browser import cdp_messages
from onair_encoder.browser.cdp_messages import MessageSplitter


def fed(*chunks: bytes) -> list[object]:
    splitter = MessageSplitter()
    return [message for chunk in chunks for message in splitter.feed(chunk)]


def test_messages_come_in_any_pieces() -> None:
    whole = b'{"id":1,"result":{}}\0{"method":"Page.frameNavigated","params":{"a":1}}\0'
    expected = [{"id": 1, "result": {}}, {"method": "Page.frameNavigated", "params": {"a": 1}}]
    assert fed(whole) == expected
    assert fed(*(whole[at : at + 1] for at in range(len(whole)))) == expected


def test_of_a_message_that_is_too_large_its_kind_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdp_messages, "MAX_MESSAGE", 1000)
    huge = b"x" * 700
    assert fed(
        b'{"method":"Page.javascriptDialogOpening","params":{"message":"' + huge,
        huge,
        huge + b'"},"sessionId":"s"}\0{"id":2,"result":{}}\0',
        b'{"id":3,"result":{"value":"' + huge,
        huge + b'"}}\0',
        b"[" + huge,
        huge + b']\0{"id":4,',
        b'"result":{}}\0',
    ) == [
        {"method": "Page.javascriptDialogOpening"},
        {"id": 2, "result": {}},
        {"id": 3, "error": {"message": "the response is too large"}},
        {"id": 4, "result": {}},
    ]


def test_what_is_no_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        fed(b"nonsense\0")
