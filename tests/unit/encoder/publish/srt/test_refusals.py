"""Refusals of a listener in words."""

from __future__ import annotations

import pytest

from onair_encoder.publish.srt.refusals import refusal


@pytest.mark.parametrize(
    ("error", "reason", "words", "permanent"),
    [
        (1001, 16, "no response from a:1", False),
        (1001, 0, "no response from a:1", False),
        (1002, 10, "a:1: the server refuses the passphrase, or expects none", True),
        (1002, 1401, "a:1: the server refuses the credentials in the stream id", True),
        (1002, 1409, "a:1: the stream id is in use", False),
        (1002, 2, "a:1: the server refused without a reason", False),
        (1002, 2222, "a:1: the server refused, reason 2222", False),
        (1002, 6, "a:1: no session could be opened (SRT error 1002, reason 6)", False),
    ],
)
def test_refusals_become_words(error: int, reason: int, words: str, permanent: bool) -> None:
    lost = refusal("a:1", error, reason)
    assert str(lost).startswith(words)
    assert lost.permanent is permanent
