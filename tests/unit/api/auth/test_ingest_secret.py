"""The secret that tokens for gateways are made with: a new one once every gateway has it."""

from __future__ import annotations

import asyncio
import base64
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.read_secret import ReadSecret

from onair_api.auth import ingest_secret
from onair_api.auth.ingest_secret import IngestSecret
from onair_crds.shapes import Document

ONE, TWO = b"1" * 32, b"2" * 32


async def test_a_new_secret_is_used_once_every_gateway_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1000.0
    monkeypatch.setattr(ingest_secret, "time", SimpleNamespace(monotonic=lambda: now_s))
    stored = [ONE]

    async def get(*_: object) -> Document:
        return {"data": {"secret": base64.b64encode(stored[0]).decode()}}

    secret = IngestSecret(cast(Any, SimpleNamespace(client=SimpleNamespace(get=get))), "onair")
    assert await secret.get() == ONE
    stored[0] = TWO
    for after_s, used in ((61, ONE), (120, ONE), (120, TWO), (61, TWO)):
        now_s += after_s
        assert await secret.get() == used


async def test_those_who_ask_while_it_is_read_for_the_first_time_wait_for_it() -> None:
    cluster = ReadSecret(ONE)
    secret = IngestSecret(cast(Any, cluster), "onair")
    assert await asyncio.gather(*(secret.get() for _ in range(3))) == [ONE] * 3
    assert cluster.reads == 1
