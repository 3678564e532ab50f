"""Chromium's errors in words."""

from __future__ import annotations

from onair_encoder.browser.page_error import page_error_text


def test_errors_become_words() -> None:
    assert page_error_text("net::ERR_NAME_NOT_RESOLVED") == "name not found"
    assert page_error_text("net::ERR_SOMETHING_NEW") == "something new"
