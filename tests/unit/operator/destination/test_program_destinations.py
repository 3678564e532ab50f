"""Object storage as the encoder is to see it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_crds.resources.destination import ObjectStorage
from onair_operator.destination.program_destinations import DestinationRefused, Secrets, storage
from onair_operator.secret.observed import SecretView

KEYS = {"access": "AK", "secret": "SK", "token": "ST"}


def secrets(type_: str = "onair.dev/credentials", **values: str) -> Secrets:
    known = SimpleNamespace(allowed=type_ == "onair.dev/credentials", type=type_, value=values.get)
    return Secrets({"keys": cast(SecretView, known)})


def spec(**more: Any) -> ObjectStorage:
    given = {
        "region": "eu-1",
        "bucket": "shows",
        "accessKeySecretRef": {"name": "keys", "key": "access"},
        "secretKeySecretRef": {"name": "keys", "key": "secret"},
        "packaging": {"hls": {}},
        **more,
    }
    return ObjectStorage.model_validate(given)


def test_what_is_not_said_is_as_the_contract_has_it() -> None:
    found = storage(spec(), secrets(**KEYS))
    assert found.access_key.get_secret_value() == "AK"
    assert found.secret_key.get_secret_value() == "SK"
    assert (found.region, found.bucket, found.prefix) == ("eu-1", "shows", "")
    assert (found.token, found.acl, found.endpoint) == (None, None, None)
    assert (found.vod, found.playlist_count, found.file_count, found.segment_duration_ms) == (
        False,
        5,
        10,
        2000,
    )


def test_a_live_window() -> None:
    hls = {"lifecycle": {"live": {"playlistCount": 3, "fileCount": 7}}, "segmentDuration": 4000}
    found = storage(spec(packaging={"hls": hls}), secrets(**KEYS))
    assert (found.vod, found.playlist_count, found.file_count, found.segment_duration_ms) == (
        False,
        3,
        7,
        4000,
    )


@pytest.mark.parametrize(
    ("vod", "limit_ms"), [({}, 0), ({"maxDuration": 0}, 0), ({"maxDuration": 60_000}, 60_000)]
)
def test_a_recording(vod: dict[str, int], limit_ms: int) -> None:
    found = storage(spec(packaging={"hls": {"lifecycle": {"vod": vod}}}), secrets(**KEYS))
    assert (found.vod, found.max_duration_ms) == (True, limit_ms)


def test_a_place_of_ones_own() -> None:
    more = {
        "prefix": "a/b",
        "endpoint": "http://minio:9000",
        "tokenSecretRef": {"name": "keys", "key": "token"},
    }
    found = storage(spec(**more), secrets(**KEYS))
    assert (found.prefix, found.endpoint) == ("a/b", "http://minio:9000")
    assert found.token
    assert found.token.get_secret_value() == "ST"


@pytest.mark.parametrize(
    ("acl", "canned"),
    [
        ("Private", "private"),
        ("PublicRead", "public-read"),
        ("BucketOwnerFullControl", "bucket-owner-full-control"),
    ],
)
def test_access_rules_are_named_as_s3_names_them(acl: str, canned: str) -> None:
    assert storage(spec(acl=acl), secrets(**KEYS)).acl == canned


def test_secrets_that_are_not_to_be_had() -> None:
    with pytest.raises(DestinationRefused, match="has no key secret"):
        storage(spec(), secrets(access="AK"))
    with pytest.raises(DestinationRefused, match=r"only onair\.dev/credentials"):
        storage(spec(), secrets("Opaque", **KEYS))
