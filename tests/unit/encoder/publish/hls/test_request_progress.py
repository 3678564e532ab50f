"""How long a response may take."""

from __future__ import annotations

from onair_encoder.publish.hls.request_progress import ResponseTimeout


def test_a_storage_that_is_slow_to_respond_is_given_longer_and_longer() -> None:
    response_timeout, limits = ResponseTimeout(), []
    for _ in range(8):
        limits.append(response_timeout.limit_s(1.0))
        response_timeout.expired(limits[-1])
    assert limits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_the_timeout_follows_what_is_usual() -> None:
    response_timeout = ResponseTimeout()
    response_timeout.responded(5.0)
    assert response_timeout.limit_s(1.0) == 10
    for _ in range(60):
        response_timeout.responded(0.1)
    assert response_timeout.limit_s(1.0) == 1
