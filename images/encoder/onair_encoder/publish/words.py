"""What went wrong, in words a producer understands; no text of a key is ever in them."""

from __future__ import annotations

import socket
import ssl

_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
_EXPIRED, _NOT_YET, _HOST_NAME, _ADDRESS = 10, 9, 62, 64
_UNKNOWN_AUTHORITY = (2, 18, 19, 20, 21)


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
            return Lost(f"{server}: TLS failed: {_certificate_in_words(error, host)}", permanent=True)
        case ssl.SSLError() if getattr(error, "reason", None) in _NO_TLS:
            return Lost(f"{server}: TLS failed: the server does not speak TLS", permanent=True)
        case ssl.SSLEOFError():
            return Lost(f"{server}: TLS was cut off")
        case ssl.SSLError():
            return Lost(
                f"{server}: TLS failed: {(getattr(error, 'reason', None) or 'handshake refused').lower()}"
            )
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


def _certificate_in_words(error: ssl.SSLCertVerificationError, host: str) -> str:
    """X509_V_ERR_…, for those who can do something about it."""
    match error.verify_code:
        case code if code in _UNKNOWN_AUTHORITY:
            return f"no known authority has signed the certificate ({error.verify_message})"
        case code if code in (_HOST_NAME, _ADDRESS):
            return f"the certificate is not for {host}"
        case code if code == _EXPIRED:
            return "the certificate has expired"
        case code if code == _NOT_YET:
            return "the certificate is not valid yet"
    return str(error.verify_message)


def name_in_words(error: int | None, host: str) -> Lost:
    """A name that could not be resolved. `error`: EAI_…"""
    if error == socket.EAI_AGAIN:
        return Lost(f"{host}: the name server does not answer")
    return Lost(f"{host}: name not found")
