"""The passwords of the built-in Redis, in a Secret of the operator's own: nobody has to choose any."""

from __future__ import annotations

import asyncio
import secrets

import structlog

from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_operator.cluster.own_secret import own_secret
from onair_operator.settings import OperatorSettings

log = structlog.get_logger()

REDIS_SECRET = "onair-redis"  # noqa: S105 - the name of a Secret
PASSWORD, REDIS_CONFIG = "password", "redis.conf"
"""Keys of the Secret: the password as the facade reads it, and as redis-server does."""
INTERVAL_S = 10.0


async def ensure_server_secrets(client: KubeClient, settings: OperatorSettings) -> None:
    """Makes those that are missing; what is there stays.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    if settings.redis.built_in:
        await own_secret(client, settings.release_namespace, REDIS_SECRET, _redis)


async def keep_server_secrets(client: KubeClient, settings: OperatorSettings) -> None:
    """Makes another one for each that is deleted, until cancelled."""
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            await ensure_server_secrets(client, settings)
        except ApiError as error:
            log.warning("server_secrets.not_made", error=error.message)


def _redis() -> dict[str, str]:
    password = secrets.token_hex(32)
    return {PASSWORD: password, REDIS_CONFIG: f"requirepass {password}\n"}
