"""Why a session failed, as sentences for producers; they never contain a key."""

from __future__ import annotations

import socket
import ssl

_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
_EXPIRED, _NOT_YET_VALID, _HOST_NAME, _IP_ADDRESS = 10, 9, 62, 64
_UNKNOWN_CA = (2, 18, 19, 20, 21)


class SessionError(Exception):
    """A session could not be opened, or ended other than by our stop. The text says why.

    `permanent`: a retry helps only after somebody has changed something, such as a key that is refused.
    `closed_by_peer`: the far side ended an open session, as it does for another publisher of the same key.
    `displaced`: another encoder has taken the place; retried only once the operator was in touch again.
    `explained`: the peer itself has said why, so that nothing need be guessed.
    """

    def __init__(
        self,
        why: str,
        *,
        permanent: bool = False,
        closed_by_peer: bool = False,
        displaced: bool = False,
        explained: bool = False,
    ) -> None:
        super().__init__(why)
        self.permanent = permanent
        self.closed_by_peer = closed_by_peer
        self.displaced = displaced
        self.explained = explained


def network_error(error: Exception, host: str, server: str) -> SessionError:
    """The error of a session for an error of the network. `server` is `host:port`."""
    match error:
        case ssl.SSLCertVerificationError():
            return SessionError(f"{server}: TLS failed: {_certificate_error(error, host)}", permanent=True)
        case ssl.SSLError() if getattr(error, "reason", None) in _NO_TLS:
            return SessionError(f"{server}: TLS failed: the server does not speak TLS", permanent=True)
        case ssl.SSLEOFError():
            return SessionError(f"{server}: TLS was cut off")
        case ssl.SSLError():
            reason = (getattr(error, "reason", None) or "handshake refused").lower()
            return SessionError(f"{server}: TLS failed: {reason}")
        case socket.gaierror():
            return name_error(error.errno, host)
        case ConnectionRefusedError():
            return SessionError(f"connection refused by {server}")
        case ConnectionResetError() | BrokenPipeError():
            return SessionError(f"connection reset by {server}")
        case TimeoutError():
            return SessionError(f"no response from {server}")
        case OSError():
            return SessionError(f"{server}: {error.strerror or 'network error'}")
        case _:
            return SessionError(f"{server}: the response does not follow the protocol")


def _certificate_error(error: ssl.SSLCertVerificationError, host: str) -> str:
    """From X509_V_ERR_…, for those who can do something about it."""
    match error.verify_code:
        case code if code in _UNKNOWN_CA:
            return f"no known CA has signed the certificate ({error.verify_message})"
        case code if code in (_HOST_NAME, _IP_ADDRESS):
            return f"the certificate is not for {host}"
        case code if code == _EXPIRED:
            return "the certificate has expired"
        case code if code == _NOT_YET_VALID:
            return "the certificate is not valid yet"
    return str(error.verify_message)


def inside_error(host: str) -> SessionError:
    """The server is where nothing of a tenant's is sent."""
    return SessionError(
        f"{host}: is at an address inside this installation, which is not allowed", permanent=True
    )


def name_error(error: int | None, host: str) -> SessionError:
    """The error of a name that could not be looked up.

    Args:
        error: EAI_…
    """
    if error == socket.EAI_AGAIN:
        return SessionError(f"{host}: the name server does not respond")
    return SessionError(f"{host}: name not found")
