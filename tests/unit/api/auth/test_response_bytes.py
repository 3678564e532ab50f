"""Responses that their service does not read."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import pytest

from onair_api.auth import response_bytes
from onair_api.auth.response_bytes import LARGE_BYTES, ResponseBytes
from onair_api.errors import ResourceExhausted

SIZE = LARGE_BYTES


def test_a_service_has_so_much_under_way_and_another_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_bytes, "MAX_BYTES", 3 * SIZE)
    responses = ResponseBytes()
    with ExitStack() as under_way:
        for _ in range(3):
            responses.check("s")
            under_way.enter_context(responses.sending("s", SIZE, refused=True))
        with pytest.raises(ResourceExhausted) as refusal:
            under_way.enter_context(responses.sending("s", SIZE, refused=True))
        assert refusal.value.headers["Retry-After"]
        with pytest.raises(ResourceExhausted):
            responses.check("s")
        for service_id, size, refused in (
            ("s", SIZE - 1, True),
            ("s", SIZE, False),
            ("t", SIZE, True),
            (None, 9 * SIZE, True),
        ):
            with responses.sending(service_id, size, refused=refused):
                pass
    responses.check("s")
    with responses.sending("s", 9 * SIZE, refused=True), pytest.raises(ResourceExhausted):
        responses.check("s")


def test_services_share_what_there_is_and_the_next_one_gets_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_bytes, "MAX_BYTES", 50 * SIZE)
    responses, taken = ResponseBytes(), dict.fromkeys("abcdefg", 0)
    with ExitStack() as under_way:
        for service_id in taken:
            with suppress(ResourceExhausted):
                while True:
                    under_way.enter_context(responses.sending(service_id, SIZE, refused=True))
                    taken[service_id] += 1
        assert taken["a"] == 50
        assert sum(taken.values()) < 100
        with pytest.raises(ResourceExhausted):
            responses.check("a")
        assert taken["g"] < 50 // response_bytes.LITTLE
        responses.check("g")
        responses.check("new")
        with responses.sending("new", 100 * SIZE - sum(taken.values()) * SIZE, refused=True):
            responses.check("newer")
            with pytest.raises(ResourceExhausted), responses.sending("newer", SIZE, refused=True):
                pass
            with responses.sending("newer", SIZE, refused=False):
                pass
    with responses.sending("new", 100 * SIZE, refused=True):
        pass
