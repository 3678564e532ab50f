"""Error responses of a storage in words."""

from __future__ import annotations

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.hls.storage_error import storage_error

STORAGE = ProgramStorage(region="eu-west-1", bucket="shows", access_key="AK", secret_key="s3cret")


@pytest.mark.parametrize(
    ("status", "code", "words", "permanent"),
    [
        (404, "NoSuchBucket", "bucket shows was not found", True),
        (403, "AccessDenied", "access to bucket shows is denied", True),
        (403, "", "access to bucket shows is denied", True),
        (403, "InvalidAccessKeyId", "the access key is not known to host", True),
        (400, "ExpiredToken", "the session token has expired", True),
        (301, "PermanentRedirect", "bucket shows is not in region eu-west-1", True),
        (403, "RequestTimeTooSkewed", "the clocks of the encoder and of host differ", False),
        (400, "EntityTooLarge", "the storage refuses a segment of this size", False),
        (413, "", "the storage refuses a segment of this size", False),
        (507, "", "the storage is full", False),
        (503, "SlowDown", "host asks to slow down", False),
        (500, "", "host responded with 500", False),
        (418, "Teapot", "host responded with 418 Teapot", False),
    ],
)
def test_error_responses_become_words(status: int, code: str, words: str, permanent: bool) -> None:
    lost = storage_error(status, code, STORAGE, "host")
    assert (str(lost), lost.permanent) == (words, permanent)
