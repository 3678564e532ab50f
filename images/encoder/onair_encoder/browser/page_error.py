"""Why a page cannot be shown, as sentences for producers. Pure."""

from __future__ import annotations

_REASONS = {
    "ERR_NAME_NOT_RESOLVED": "name not found",
    "ERR_CONNECTION_REFUSED": "connection refused",
    "ERR_CONNECTION_TIMED_OUT": "no response in time",
    "ERR_CONNECTION_RESET": "connection reset",
    "ERR_ADDRESS_UNREACHABLE": "address unreachable",
    "ERR_INTERNET_DISCONNECTED": "no network",
    "ERR_BLOCKED_BY_ADMINISTRATOR": "not an address that pages may use",
    "ERR_CERT_AUTHORITY_INVALID": "certificate of an unknown CA",
    "ERR_CERT_DATE_INVALID": "certificate has expired",
    "ERR_CERT_COMMON_NAME_INVALID": "certificate is for another name",
}


class PageError(Exception):
    """The page cannot be shown; the text says why."""


def page_error_text(error_text: str) -> str:
    """Chromium's `net::ERR_…` as a producer would say it."""
    code = error_text.removeprefix("net::")
    return _REASONS.get(code, code.removeprefix("ERR_").replace("_", " ").lower())
