"""What went wrong, in words a producer understands; no text of a key is ever in them."""

from __future__ import annotations

import socket
import ssl


class Lost(Exception):
    """A session could not be had, or ended other than by our stop. The text says why.

    `permanent`: trying again helps only after somebody has changed something, such as a key that is refused.
    """

    def __init__(self, why: str, *, permanent: bool = False) -> None:
        super().__init__(why)
        self.permanent = permanent


def in_words(error: Exception, host: str, server: str) -> Lost:
    """An error of the network. `server` is `host:port`."""
    match error:
        case ssl.SSLCertVerificationError():
            return Lost(f"{server}: TLS failed: {error.verify_message}", permanent=True)
        case ssl.SSLError():
            return Lost(f"{server}: TLS failed: {getattr(error, 'reason', '') or 'handshake refused'}")
        case socket.gaierror():
            return name_in_words(error.errno, host)
        case ConnectionRefusedError():
            return Lost(f"connection refused by {server}")
        case ConnectionResetError() | BrokenPipeError():
            return Lost(f"connection reset by {server}")
        case TimeoutError():
            return Lost(f"no answer from {server}")
        case OSError():
            return Lost(f"{server}: {error.strerror or 'network error'}")
        case _:
            return Lost(f"{server}: the answer was not of the protocol")


def name_in_words(error: int | None, host: str) -> Lost:
    """A name that could not be resolved. `error`: EAI_…"""
    if error == socket.EAI_AGAIN:
        return Lost(f"{host}: the name server does not answer")
    return Lost(f"{host}: name not found")
