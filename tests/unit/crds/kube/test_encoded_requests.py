"""Bodies of requests, as the API server gets them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onair_crds.kube.encoded_requests import encoded


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"spec": {"name": "Žofie", "rate": 29.97, "on": True, "none": None}}, id="usual"),
        pytest.param([{"op": "add", "path": "/spec", "value": 1 << 70}], id="an integer of 71 bits"),
        pytest.param({"text": "half a pair: \ud83d"}, id="half a surrogate pair"),
        pytest.param(deep(300), id="300 levels"),
        pytest.param({}, id="nothing in it"),
    ],
)
def test_a_body_is_the_json_of_what_is_sent(body: Any) -> None:
    assert json.loads(encoded(body)) == body
