"""Secrets of the operator's own: each is made once, by whichever operator comes first."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping
from typing import TypeVar

from cryptography.exceptions import UnsupportedAlgorithm

from onair_crds.contract.labels import PART_OF_LABEL, PRODUCT
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document

T = TypeVar("T")


class UnusableSecret(Exception):
    """The Secret that is there holds no such value, as one that was restored without its data."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Secret {name} has no usable key: restore it, or delete it")
        self.name = name


def value_of(secret: Document, name: str, parse: Callable[[bytes], T]) -> T:
    """A value of a Secret.

    Raises:
        UnusableSecret: it has none of this name, or it cannot be parsed.
    """
    try:
        return parse(base64.b64decode(secret["data"][name]))
    except (KeyError, TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise UnusableSecret(secret["metadata"]["name"]) from error


async def own_secret(
    client: KubeClient,
    namespace: str,
    name: str,
    make: Callable[[], Mapping[str, str]],
    **fields: str | bool,
) -> Document:
    """The Secret that is there, or a new one; creation decides between operators that start together.

    Args:
        make: gives the values of a new one, in a thread: keys take a tenth of a second of CPU.
        fields: of the document, besides name, label and values.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    try:
        return await client.get(SECRETS, namespace, name)
    except ApiError as error:
        if not error.not_found:
            raise
    document: Document = {
        "apiVersion": "v1",
        "kind": "Secret",
        **fields,
        "metadata": {"name": name, "labels": {PART_OF_LABEL: PRODUCT}},
        "stringData": dict(await asyncio.to_thread(make)),
    }
    try:
        return await client.create(SECRETS, namespace, document)
    except ApiError as error:
        if not error.already_exists:
            raise
    return await client.get(SECRETS, namespace, name)
