"""The key of tokens of composition pages: one Secret, created by whichever operator comes first."""

from __future__ import annotations

import asyncio
import base64

from onair_crds.contract.labels import PART_OF_LABEL, PRODUCT, RENDERER_KEY_TYPE
from onair_crds.contract.renderer_token import PRIVATE_PEM, PUBLIC_PEM, RENDERER_KEY_SECRET
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.encoder.renderer_key import RendererKey


async def renderer_key(client: KubeClient, namespace: str) -> RendererKey:
    """The key that is there, or a new one; creation decides between operators that start together.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    try:
        return _of(await client.get(SECRETS, namespace, RENDERER_KEY_SECRET))
    except ApiError as error:
        if not error.not_found:
            raise
    key = await asyncio.to_thread(RendererKey.generate)
    document: Document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": RENDERER_KEY_TYPE,
        "immutable": True,
        "metadata": {"name": RENDERER_KEY_SECRET, "labels": {PART_OF_LABEL: PRODUCT}},
        "stringData": {PRIVATE_PEM: key.private_pem(), PUBLIC_PEM: key.public_pem()},
    }
    try:
        return _of(await client.create(SECRETS, namespace, document))
    except ApiError as error:
        if not error.already_exists:
            raise
    return _of(await client.get(SECRETS, namespace, RENDERER_KEY_SECRET))


def _of(secret: Document) -> RendererKey:
    return RendererKey.from_pem(base64.b64decode(secret["data"][PRIVATE_PEM]))
