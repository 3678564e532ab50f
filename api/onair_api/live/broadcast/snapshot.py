"""Fetches a snapshot from a running broadcast's encoder: all that the facade asks of encoders.

The pod's identity Secret holds the certificate that is pinned, and a token that
the encoder accepts only for snapshots.
"""

from __future__ import annotations

import base64
import ssl
from collections import OrderedDict
from dataclasses import dataclass

import aiohttp
import structlog

from onair_api.errors import Unavailable
from onair_crds.contract.pod import (
    CERTIFICATE,
    SERVER_NAME,
    SNAPSHOT_KEY,
    SNAPSHOT_PATH,
    control_url,
    pinned,
)
from onair_crds.kube.apis import PODS, SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError

log = structlog.get_logger()

TIMEOUT = aiohttp.ClientTimeout(total=8, sock_connect=2)
MAX_BYTES = 16 * 2**20
KNOWN_PODS = 256


@dataclass(frozen=True)
class EncoderAddress:
    """Where one encoder is reached, the certificate that it must show, the token that it takes."""

    url: str
    certificate: ssl.SSLContext
    token: str


class Encoders:
    """Fetches snapshots from encoders, whose addresses it remembers."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._known: OrderedDict[str, EncoderAddress] = OrderedDict()
        """By uid of the pod, whose name, address and identity never change."""

    async def snapshot(self, pod: str, uid: str) -> bytes:
        """A JPEG of what the encoder sends.

        Raises:
            Unavailable: it gives none; the message says why.
        """
        try:
            address = await self._address(pod, uid)
        except ApiError as error:
            if error.not_found:
                raise Unavailable("the broadcast is moving to another encoder; try again") from error
            raise
        headers = {"Authorization": f"Bearer {address.token}"}
        try:
            async with (
                aiohttp.ClientSession(timeout=TIMEOUT, trust_env=False) as session,
                session.get(
                    address.url, headers=headers, ssl=address.certificate, server_hostname=SERVER_NAME
                ) as response,
            ):
                body = await _whole(response.content)
                if body and response.status == 200 and response.content_type == "image/jpeg":
                    return body
                log.warning("snapshot.refused", pod=pod, status=response.status)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self._known.pop(uid, None)
            log.warning("snapshot.failed", pod=pod, error=type(error).__name__)
            raise Unavailable("the encoder is unreachable; try again") from error
        raise Unavailable("the encoder has no image yet; try again")

    async def _address(self, pod: str, uid: str) -> EncoderAddress:
        known = self._known.get(uid)
        if known:
            return known
        document = await self._client.get(PODS, self._namespace, pod)
        secret = await self._client.get(SECRETS, self._namespace, pod)
        ip = (document.get("status") or {}).get("podIP")
        data = secret.get("data") or {}
        if document["metadata"]["uid"] != uid or not ip or SNAPSHOT_KEY not in data:
            raise Unavailable("the encoder is not ready; try again")
        address = EncoderAddress(
            control_url(ip, SNAPSHOT_PATH),
            pinned(base64.b64decode(data[CERTIFICATE]).decode()),
            base64.b64decode(data[SNAPSHOT_KEY]).decode(),
        )
        self._known[uid] = address
        while len(self._known) > KNOWN_PODS:
            self._known.popitem(last=False)
        return address


async def _whole(content: aiohttp.StreamReader) -> bytes | None:
    """The body to its end; None if it is larger than any image. A read gives what has come so far."""
    parts: list[bytes] = []
    size = 0
    async for part in content.iter_any():
        parts.append(part)
        size += len(part)
        if size > MAX_BYTES:
            return None
    return b"".join(parts)
