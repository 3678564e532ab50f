"""The key of tokens of composition pages, in a Secret of the operator's own."""

from __future__ import annotations

import base64

from onair_crds.contract.labels import RENDERER_KEY_TYPE
from onair_crds.contract.renderer_token import PRIVATE_PEM, PUBLIC_PEM, RENDERER_KEY_SECRET
from onair_crds.kube.client import KubeClient
from onair_operator.cluster.own_secret import own_secret
from onair_operator.encoder.renderer_key import RendererKey


async def renderer_key(client: KubeClient, namespace: str) -> RendererKey:
    """The key that is there, or a new one.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    secret = await own_secret(
        client, namespace, RENDERER_KEY_SECRET, _new, type=RENDERER_KEY_TYPE, immutable=True
    )
    return RendererKey.from_pem(base64.b64decode(secret["data"][PRIVATE_PEM]))


def _new() -> dict[str, str]:
    key = RendererKey.generate()
    return {PRIVATE_PEM: key.private_pem(), PUBLIC_PEM: key.public_pem()}
