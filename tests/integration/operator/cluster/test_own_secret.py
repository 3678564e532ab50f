"""Secrets of the operator's own, on a real API server."""

from __future__ import annotations

import asyncio
import base64
import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_operator.cluster.own_secret import own_secret

NAME, KEY = "onair-test", "value"


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[KubeClient]:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        yield client


async def test_operators_that_start_together_have_one_secret_and_a_later_one_takes_it(
    client: KubeClient, namespace: str
) -> None:
    made = itertools.count(1)

    def make() -> dict[str, str]:
        return {KEY: f"of operator {next(made)}"}

    def make_none() -> dict[str, str]:
        pytest.fail("the later one takes what is there")

    together = await asyncio.gather(*(own_secret(client, namespace, NAME, make) for _ in range(8)))
    later = await own_secret(client, namespace, NAME, make_none)
    values = {base64.b64decode(secret["data"][KEY]) for secret in (*together, later)}
    assert len(values) == 1


async def test_a_secret_has_its_type_and_cannot_be_changed_where_it_says_so(
    client: KubeClient, namespace: str
) -> None:
    await own_secret(client, namespace, NAME, lambda: {KEY: "one"}, type="onair.test/key", immutable=True)
    stored = await client.get(SECRETS, namespace, NAME)
    assert (stored["type"], stored["immutable"]) == ("onair.test/key", True)
