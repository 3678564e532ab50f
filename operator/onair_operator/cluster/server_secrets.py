"""Passwords of the built-in Redis and MediaMTX, in Secrets of the operator's own: nobody chooses any."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections.abc import Callable

import structlog

from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_operator.cluster.own_secret import own_secret
from onair_operator.cluster.receiver import Receiver
from onair_operator.settings import OperatorSettings

log = structlog.get_logger()

REDIS_SECRET, MEDIAMTX_SECRET = "onair-redis", "onair-mediamtx"
PASSWORD, REDIS_CONFIG = "password", "redis.conf"
"""Keys of the Secret of Redis: the password as the facade reads it, and as redis-server does."""
PUBLISH, READ, API = "publish", "read", "api"
"""What a password of MediaMTX is for; it has only the hash, `sha256:…`, under a key of its own."""
INTERVAL_S = 10.0


async def ensure_server_secrets(client: KubeClient, settings: OperatorSettings) -> Receiver | None:
    """Makes those that are missing; what is there stays. Gives how the built-in MediaMTX is published to.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    namespace = settings.release_namespace
    if settings.redis.built_in:
        await own_secret(client, namespace, REDIS_SECRET, _redis)
    if not settings.receiver.hosts:
        return None
    secret = await own_secret(client, namespace, MEDIAMTX_SECRET, _mediamtx)
    password = base64.b64decode((secret.get("data") or {}).get(_password(PUBLISH), ""))
    return Receiver(frozenset(settings.receiver.hosts), password.decode(errors="replace"))


async def keep_server_secrets(
    client: KubeClient,
    settings: OperatorSettings,
    known: Receiver | None,
    replaced: Callable[[Receiver | None], None],
) -> None:
    """Makes another one for each that is deleted, until cancelled.

    Args:
        replaced: hears another way to publish to the built-in MediaMTX.
    """
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            receiver = await ensure_server_secrets(client, settings)
        except (ApiError, ValueError) as error:
            log.warning("server_secrets.not_made", error=type(error).__name__)
            continue
        if receiver != known:
            known = receiver
            replaced(receiver)


def _redis() -> dict[str, str]:
    password = secrets.token_hex(32)
    return {PASSWORD: password, REDIS_CONFIG: f"requirepass {password}\n"}


def _mediamtx() -> dict[str, str]:
    values = {}
    for purpose in (PUBLISH, READ, API):
        password = secrets.token_hex(16)
        values[_password(purpose)] = password
        digest = base64.b64encode(hashlib.sha256(password.encode()).digest()).decode()
        values[f"{purpose}Hash"] = f"sha256:{digest}"
    return values


def _password(purpose: str) -> str:
    return f"{purpose}Password"
