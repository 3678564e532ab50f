"""The built-in MediaMTX as a destination: it takes only streams of this installation's encoders. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import SecretStr

RTMP_PORT = 1935
USER = "publisher"


@dataclass(frozen=True)
class Receiver:
    hosts: frozenset[str]
    """Host and port, by which destinations lead to it."""
    password: str = field(repr=False)
    """That it takes streams with."""

    def with_password(self, url: str, key: SecretStr | None) -> tuple[str, SecretStr | None]:
        """A destination's url and key, with the password where they lead to this server and have none.

        Where there is no key the last part of the url's path is it.

        Raises:
            ValueError: the url cannot be read.
        """
        parts = urlsplit(url)
        if parts.scheme != "rtmp" or f"{parts.hostname}:{parts.port or RTMP_PORT}" not in self.hosts:
            return url, key
        app, name = (url, key.get_secret_value()) if key else url.rstrip("/").rsplit("/", 1)
        if not parts.path.strip("/") or parts.query or "?" in name:
            return url, key
        return app, SecretStr(f"{name}?user={USER}&pass={self.password}")
