"""Addresses of buckets."""

from __future__ import annotations

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.hls.address import BucketAddress

STORAGE = ProgramStorage(region="eu-west-1", bucket="shows", access_key="AK", secret_key="s3cret")


@pytest.mark.parametrize(
    ("bucket", "endpoint", "address"),
    [
        ("shows", None, ("https://shows.s3.eu-west-1.amazonaws.com", "")),
        ("my.shows", None, ("https://s3.eu-west-1.amazonaws.com", "/my.shows")),
        ("shows", "http://minio:9000", ("http://minio:9000", "/shows")),
        ("shows", "http://user:pass@minio:9000", ("http://minio:9000", "/shows")),
        ("shows", "https://a.example/s3/", ("https://a.example", "/s3/shows")),
    ],
)
def test_addresses_of_buckets(bucket: str, endpoint: str | None, address: tuple[str, str]) -> None:
    storage = STORAGE.model_copy(update={"bucket": bucket, "endpoint": endpoint})
    found = BucketAddress.of(storage)
    assert (found.base, found.root) == address
