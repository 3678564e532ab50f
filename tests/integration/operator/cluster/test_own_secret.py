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
from onair_crds.kube.errors import ApiError
from onair_operator.cluster import server_secrets
from onair_operator.cluster.own_secret import own_secret
from onair_operator.settings import OperatorSettings, RedisSettings

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


async def test_the_password_of_redis_is_made_once_and_anew_where_it_was_deleted(
    client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_secrets, "INTERVAL_S", 0.05)
    settings = OperatorSettings(release_namespace=namespace, redis=RedisSettings(built_in=True))

    async def values() -> dict[str, str]:
        data = (await client.get(SECRETS, namespace, "onair-redis"))["data"]
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    await server_secrets.ensure_server_secrets(client, settings)
    first = await values()
    assert first["redis.conf"] == f"requirepass {first['password']}\n"
    assert len(bytes.fromhex(first["password"])) == 32
    await server_secrets.ensure_server_secrets(client, settings)
    assert await values() == first

    keeping = asyncio.create_task(server_secrets.keep_server_secrets(client, settings, None, lambda _: None))
    await client.delete(SECRETS, namespace, "onair-redis")
    async with asyncio.timeout(10):
        while not (await client.list(SECRETS, namespace))["items"]:
            pass
    second = await values()
    keeping.cancel()
    assert second["password"] != first["password"]


async def test_there_is_no_password_of_a_redis_that_is_not_ours(client: KubeClient, namespace: str) -> None:
    await server_secrets.ensure_server_secrets(client, OperatorSettings(release_namespace=namespace))
    with pytest.raises(ApiError) as raised:
        await client.get(SECRETS, namespace, "onair-redis")
    assert raised.value.not_found
