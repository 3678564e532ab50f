"""One operation over HTTP."""

from __future__ import annotations

from onair_api.auth.callers import CallHeaders
from onair_api.http.endpoint import call_headers


def test_credentials_and_session_are_read_from_the_first_header_of_a_name() -> None:
    headers = [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b"), (b"accept", b"*/*")]
    assert call_headers({"headers": headers}) == CallHeaders("Bearer a")
    both = [(b"apistream-sessionid", b"s1"), (b"sessionid", b"s2"), (b"x-api-key", b"k")]
    assert call_headers({"headers": both}) == CallHeaders(None, "k", "s2")
    assert call_headers({"headers": both[:1]}).session_id == "s1"
