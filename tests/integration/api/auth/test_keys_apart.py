"""Keys in a namespace of their own: the facade has them there, and reads no other Secret of the release."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.waiting import wait_for

from onair_crds.contract.renderer_token import PRIVATE_PEM, PUBLIC_PEM, RENDERER_KEY_SECRET
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_operator.cluster.renderer_key_secret import renderer_key

TOKEN = "/live/v2/authentication/token"


@pytest.fixture
def keys_namespace(admin: httpx.Client) -> str:
    name = f"keys-{secrets.token_hex(4)}"
    admin.post("/api/v1/namespaces", json={"metadata": {"name": name}}).raise_for_status()
    return name


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[KubeClient]:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        yield client


def test_the_facade_has_its_keys_in_their_namespace_and_not_in_the_releases(
    kubeconfig: Path, resources: StoredResources, keys_namespace: str, api_key: str, admin: httpx.Client
) -> None:
    apart = StoredResources(admin, resources.shows, keys_namespace)
    with FacadeThread(
        kubeconfig, resources.shows, resources.release, keys_namespace=keys_namespace
    ) as facade:

        def sign_in(key: str) -> httpx.Response:
            return facade.http.post(TOKEN, headers={"X-API-Key": key}, json={"serviceUserId": "anna"})

        key = apart.add_api_key("studio")
        wait_for(lambda: sign_in(key).is_success, "the key is known")
        User(facade, sign_in(key).json()["accessToken"]).collection()
        assert sign_in(api_key).status_code == 401, "it is in the release's namespace"
        types = {each["type"] for each in apart.secrets(keys_namespace)}
        assert types == {"onair.dev/api-key", "onair.dev/signing-key"}


async def test_the_facade_is_left_the_public_half_of_the_key_of_pages(
    client: KubeClient, namespace: str, keys_namespace: str
) -> None:
    async def values(where: str) -> dict[str, str]:
        return dict((await client.get(SECRETS, where, RENDERER_KEY_SECRET))["data"])

    for _ in range(2):
        await renderer_key(client, namespace, keys_namespace)
        assert set(await values(keys_namespace)) == {PUBLIC_PEM}
        own = await values(namespace)
        assert set(own) == {PRIVATE_PEM, PUBLIC_PEM}
        assert (await values(keys_namespace))[PUBLIC_PEM] == own[PUBLIC_PEM]
        await client.delete(SECRETS, namespace, RENDERER_KEY_SECRET)
