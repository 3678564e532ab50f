"""The operator's signing key: one Secret, created by whichever operator comes first."""

from __future__ import annotations

import base64

from onair_crds.contract.labels import OPERATOR_KEY_TYPE, PART_OF_LABEL, PRODUCT
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.encoder.identity import OperatorKey

NAME = "onair-operator-signing"
DATA_KEY = "private.pem"


async def operator_key(client: KubeClient, namespace: str) -> OperatorKey:
    """The key that is there, or a new one; creation decides between operators that start together."""
    try:
        return _of(await client.get(SECRETS, namespace, NAME))
    except ApiError as error:
        if not error.not_found:
            raise
    document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": OPERATOR_KEY_TYPE,
        "metadata": {"name": NAME, "labels": {PART_OF_LABEL: PRODUCT}},
        "stringData": {DATA_KEY: OperatorKey.generate().private_pem()},
    }
    try:
        return _of(await client.create(SECRETS, namespace, document))
    except ApiError as error:
        if not error.already_exists:
            raise
    return _of(await client.get(SECRETS, namespace, NAME))


def _of(secret: Document) -> OperatorKey:
    return OperatorKey.from_pem(base64.b64decode(secret["data"][DATA_KEY]))
