"""The operator's signing key: one Secret, made by whichever operator comes first."""

from __future__ import annotations

import base64

from onair_crds.contract.labels import OPERATOR_KEY_TYPE
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_operator.identity import OperatorKey

NAME = "onair-operator-signing"


async def signing_key(client: KubeClient, namespace: str) -> OperatorKey:
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
        "metadata": {"name": NAME, "labels": {"app.kubernetes.io/part-of": "onair"}},
        "stringData": {"private.pem": OperatorKey.generate().private_pem()},
    }
    try:
        return _of(await client.create(SECRETS, namespace, document))
    except ApiError as error:
        if not error.already_exists:
            raise
    return _of(await client.get(SECRETS, namespace, NAME))


def _of(secret: dict[str, dict[str, str]]) -> OperatorKey:
    return OperatorKey.from_pem(base64.b64decode(secret["data"]["private.pem"]))
