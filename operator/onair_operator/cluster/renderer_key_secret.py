"""The key of tokens of composition pages, in a Secret of the operator's own."""

from __future__ import annotations

import base64

from onair_crds.contract.labels import RENDERER_KEY_TYPE
from onair_crds.contract.renderer_token import PRIVATE_PEM, PUBLIC_PEM, RENDERER_KEY_SECRET
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_operator.cluster.own_secret import own_secret, value_of
from onair_operator.encoder.renderer_key import RendererKey


async def renderer_key(client: KubeClient, namespace: str, keys_namespace: str = "") -> RendererKey:
    """The key that is there, or a new one.

    Args:
        keys_namespace: where its public half is put, if the facade does not read the key's own namespace.

    Raises:
        ApiError: the API server did not respond, or refuses.
        UnusableSecret: what is there is no key.
    """
    secret = await own_secret(
        client, namespace, RENDERER_KEY_SECRET, _new, type=RENDERER_KEY_TYPE, immutable=True
    )
    key = value_of(secret, PRIVATE_PEM, RendererKey.from_pem)
    if keys_namespace not in ("", namespace):
        await _publish(client, keys_namespace, key.public_pem())
    return key


async def _publish(client: KubeClient, namespace: str, public_pem: str) -> None:
    """Leaves the facade the public half; another one makes room for it."""
    make: dict[str, str] = {PUBLIC_PEM: public_pem}
    for _ in range(2):
        stored = await own_secret(
            client, namespace, RENDERER_KEY_SECRET, lambda: make, type=RENDERER_KEY_TYPE, immutable=True
        )
        if base64.b64decode((stored.get("data") or {}).get(PUBLIC_PEM, "")) == public_pem.encode():
            return
        await client.delete(SECRETS, namespace, RENDERER_KEY_SECRET)


def _new() -> dict[str, str]:
    key = RendererKey.generate()
    return {PRIVATE_PEM: key.private_pem(), PUBLIC_PEM: key.public_pem()}
