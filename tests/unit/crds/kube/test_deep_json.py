"""What is nested too deeply for Python's decoder is decoded without its depths, and all else as it is."""

from __future__ import annotations

import json

import pytest

from onair_crds.kube.deep_json import DEEPEST, loads

DEEP = 5000


@pytest.mark.parametrize("payload", [b"{}", b'{"a": [1, "[{", {"b": null}]}', b'"text"', b"1.5"])
def test_what_can_be_decoded_is(payload: bytes) -> None:
    assert loads(payload) == json.loads(payload)


@pytest.mark.parametrize("opens", [b"[", b'{"a":'])
def test_the_depths_are_null_and_all_beside_them_stays(opens: bytes) -> None:
    closes = b"]" if opens == b"[" else b"}"
    deep = opens * DEEP + b"1" + closes * DEEP
    beside = json.dumps('a " [ { \\').encode()
    found = loads(b'{"before": ' + beside + b', "deep": ' + deep + b', "after": [{"x": [' + beside + b"]}]}")
    assert found["before"] == json.loads(beside)
    assert found["after"] == [{"x": [json.loads(beside)]}]
    level, value = 1, found["deep"]
    while value is not None:
        (value,) = value if isinstance(value, list) else value.values()
        level += 1
    assert level == DEEPEST


@pytest.mark.parametrize("payload", [b"[" * DEEP, b"[" * DEEP + b"}" * DEEP, b"]" + b"[" * DEEP])
def test_what_is_no_json_is_refused(payload: bytes) -> None:
    with pytest.raises(json.JSONDecodeError):
        loads(payload)
