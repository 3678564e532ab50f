"""The operator's signing key, in a Secret of its own."""

from __future__ import annotations

from onair_crds.contract.labels import OPERATOR_KEY_TYPE
from onair_crds.kube.client import KubeClient
from onair_operator.cluster.own_secret import own_secret, value_of
from onair_operator.encoder.pod_identity import OperatorKey

NAME = "onair-operator-signing"
DATA_KEY = "private.pem"


async def operator_key(client: KubeClient, namespace: str) -> OperatorKey:
    """The key that is there, or a new one.

    Raises:
        ApiError: the API server did not respond, or refuses.
        UnusableSecret: what is there is no key.
    """
    secret = await own_secret(client, namespace, NAME, _new, type=OPERATOR_KEY_TYPE)
    return value_of(secret, DATA_KEY, OperatorKey.from_pem)


def _new() -> dict[str, str]:
    return {DATA_KEY: OperatorKey.generate().private_pem()}
