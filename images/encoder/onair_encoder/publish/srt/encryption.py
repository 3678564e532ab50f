"""The passphrase of an SRT session's encryption. Pure."""

from __future__ import annotations

from onair_crds.session_error import SessionError

PASSPHRASE_LENGTH = range(10, 80)


def checked_passphrase(passphrase: str | None) -> str | None:
    """Returns a passphrase that SRT takes, or None for none.

    Raises:
        SessionError: it is of a length that SRT does not take.
    """
    if passphrase and len(passphrase.encode()) not in PASSPHRASE_LENGTH:
        raise SessionError("the passphrase must have 10 to 79 characters", permanent=True)
    return passphrase or None
