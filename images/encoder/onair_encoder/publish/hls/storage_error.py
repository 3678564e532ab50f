"""Translates a storage's error codes into words that a producer understands. Pure."""

from __future__ import annotations

import re

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError

_CODE = re.compile(r"<Code>([A-Za-z0-9]+)</Code>")
_PERMANENT = {
    "NoSuchBucket": "bucket {bucket} was not found",
    "AccessDenied": "access to bucket {bucket} is denied",
    "AllAccessDisabled": "access to bucket {bucket} is denied",
    "AccountProblem": "access to bucket {bucket} is denied",
    "AccessControlListNotSupported": "bucket {bucket} does not support access rules of objects (acl)",
    "InvalidAccessKeyId": "the access key is not known to {server}",
    "XAdminUserNotFound": "the access key is not known to {server}",  # versitygw
    "InvalidToken": "the session token is refused by {server}",
    "SignatureDoesNotMatch": "the secret key does not match the access key",
    "ExpiredToken": "the session token has expired",
    "AuthorizationHeaderMalformed": "bucket {bucket} is not in region {region}",
    "PermanentRedirect": "bucket {bucket} is not in region {region}",
    "IllegalLocationConstraintException": "bucket {bucket} is not in region {region}",
    "InvalidBucketName": "{bucket} is not the name of a bucket",
}
_TRANSIENT = {
    "QuotaExceeded": "the storage is full",
    "XMinioStorageFull": "the storage is full",
    "InsufficientStorage": "the storage is full",
    "RequestTimeTooSkewed": "the clocks of the encoder and of {server} differ",
    "SlowDown": "{server} asks to slow down",
    "ServiceUnavailable": "{server} is not available",
    "InternalError": "{server} has an internal error",
}


class NotReadable(SessionError):
    """An object may not be read, or does not exist: storages do not distinguish the two."""


class TooLarge(SessionError):
    """The storage, or a proxy before it, takes no object of this size, however often it is sent."""


class Changed(SessionError):
    """An object is not the one that the condition of a write names."""


class ConditionsUnsupported(SessionError):
    """The bucket takes no write on a condition."""


def error_code(text: str) -> str:
    """The code in the body of an error response; empty if there is none."""
    found = _CODE.search(text)
    return found[1] if found else ""


def storage_error(status: int, code: str, storage: ProgramStorage, server: str) -> SessionError:
    """The error of a session for a storage's error response."""
    if code == "EntityTooLarge" or status == 413:
        return TooLarge("the storage refuses a segment of this size")
    known = {"bucket": storage.bucket, "region": storage.region, "server": server}
    if code in _PERMANENT:
        return SessionError(_PERMANENT[code].format(**known), permanent=True)
    if code in _TRANSIENT:
        return SessionError(_TRANSIENT[code].format(**known))
    if status in (401, 403):
        return SessionError(_PERMANENT["AccessDenied"].format(**known), permanent=True)
    if status in (301, 307):
        return SessionError(_PERMANENT["PermanentRedirect"].format(**known), permanent=True)
    if status == 507:
        return SessionError(_TRANSIENT["QuotaExceeded"])
    return SessionError(f"{server} responded with {status}{f' {code}' if code else ''}")
