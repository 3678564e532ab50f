"""Who shows the token of the installation's secret is a gateway; where that can be guessed nobody is."""

from __future__ import annotations

import asyncio
import base64
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.read_secret import ReadSecret

from onair_api.ingest import gateway_identity
from onair_api.ingest.gateway_identity import GatewayIdentity
from onair_crds.contract.ingest_gateway import gateway_token
from onair_crds.shapes import Document


@pytest.mark.parametrize(
    ("secret", "known"), [(b"s" * 64, True), (b"", False), (b"short", False)], ids=["long", "empty", "short"]
)
async def test_a_token_is_a_gateways_where_nobody_could_guess_it(secret: bytes, known: bool) -> None:
    async def get(*_: object) -> Document:
        return {"data": {"secret": base64.b64encode(secret).decode()}}

    cluster = SimpleNamespace(client=SimpleNamespace(get=get))
    identity = GatewayIdentity(cast(Any, cluster), "onair")
    assert await identity.shown_by(f"Bearer {gateway_token(secret, 'facade')}") is known
    assert not await identity.shown_by(f"Bearer {gateway_token(secret, 'operator')}")


async def test_gateways_with_the_former_secret_are_known_beside_those_with_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway_identity, "REREAD_S", 0.0)
    stored = [b"1" * 64]

    async def get(*_: object) -> Document:
        return {"data": {"secret": base64.b64encode(stored[0]).decode()}}

    identity = GatewayIdentity(cast(Any, SimpleNamespace(client=SimpleNamespace(get=get))), "onair")
    former, new = (f"Bearer {gateway_token(digit * 64, 'facade')}" for digit in (b"1", b"2"))
    assert await identity.shown_by(former)
    stored[0] = b"2" * 64
    assert await identity.shown_by(new)
    assert await identity.shown_by(former), "its volume is not updated yet"


async def test_gateways_that_come_while_the_secret_is_read_wait_for_it() -> None:
    cluster = ReadSecret(b"s" * 64)
    identity = GatewayIdentity(cast(Any, cluster), "onair")
    shown = f"Bearer {gateway_token(b's' * 64, 'facade')}"
    assert await asyncio.gather(*(identity.shown_by(shown) for _ in range(3))) == [True] * 3
    assert cluster.reads == 1
