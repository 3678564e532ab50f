"""How all clients of Redis connect: the address, and a password and CA certificates from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.credentials import CredentialProvider
from redis.exceptions import MasterDownError, ReadOnlyError

from onair_api.settings import RedisSettings

USER = "default"
NOT_THE_PRIMARY = (ReadOnlyError, MasterDownError)
"""What a replica replies, such as a former primary after a failover: the address leads elsewhere now."""


def connection_options(settings: RedisSettings) -> dict[str, Any]:
    """What a connection pool takes besides the url.

    Nothing is tried again. A connection with a server that is not the primary is closed, as are those that
    break: the next one is with whatever the address leads to then.
    """
    options: dict[str, Any] = {"retry": Retry(NoBackoff(), 0), "retry_on_error": list(NOT_THE_PRIMARY)}
    if settings.password_file is not None:
        options["credential_provider"] = PasswordFile(settings.password_file)
    if settings.ca_file is not None and (settings.url or "").startswith("rediss:"):
        options["ssl_ca_certs"] = str(settings.ca_file)
    return options


def redis_client(settings: RedisSettings, timeout_s: float, *, decode_responses: bool = False) -> Redis:
    """Makes a client that asks nothing twice, and waits for so long for a connection and for a response."""
    return Redis.from_url(
        str(settings.url),
        socket_connect_timeout=timeout_s,
        socket_timeout=timeout_s,
        decode_responses=decode_responses,
        **connection_options(settings),
    )


class PasswordFile(CredentialProvider):
    """Reads the password for each connection, as it may have been replaced.

    The user is named, so that a server without a password accepts it too: one that is about to be upgraded.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_credentials(self) -> tuple[str, str]:
        """Returns user and password, as the file has them now.

        Raises:
            OSError: the file cannot be read.
        """
        return USER, self._path.read_text().strip()

    async def get_credentials_async(self) -> tuple[str, str]:
        return self.get_credentials()
