"""Lists come in pages that are worked on in one go each."""

from __future__ import annotations

import pytest

from onair_crds.kube import client
from onair_crds.kube.client import LARGEST_PAGE, PAGE_BYTES, SMALLEST_PAGE, next_page
from onair_crds.kube.errors import ApiUnavailable, ApiUnreachable


def test_pages_of_large_objects_are_short_and_those_of_small_ones_long() -> None:
    assert next_page(100, PAGE_BYTES) == 100
    assert next_page(100, 10 * PAGE_BYTES) == SMALLEST_PAGE
    assert next_page(SMALLEST_PAGE, 1000 * PAGE_BYTES) == SMALLEST_PAGE
    assert next_page(100, PAGE_BYTES // 3) == 300
    assert next_page(LARGEST_PAGE, 0) == LARGEST_PAGE


@pytest.mark.parametrize(
    "payload", [b"<html>bad gateway</html>", b'"bad gateway"', b"[]", b"null", b"[" * 50_000]
)
def test_what_answers_in_the_api_servers_place_is_no_server(payload: bytes) -> None:
    with pytest.raises(ApiUnreachable, match="no JSON object"):
        client._decoded(payload)
    error = client._error(502, payload)
    assert isinstance(error, ApiUnavailable)
    assert payload[:200].decode() == error.message
    assert not client._error(404, payload).transient
