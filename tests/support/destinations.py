"""What the cluster stores of a destination: its address, its Secrets."""

from __future__ import annotations

from tests.support.facade import StoredResources

from onair_crds.shapes import JsonObject


def address_of(resources: StoredResources, destination: JsonObject) -> JsonObject:
    """The stored address."""
    return resources.get("destinations", destination["destinationId"])["spec"]["address"]  # type: ignore[no-any-return]


def secret_of(resources: StoredResources, destination: JsonObject) -> JsonObject:
    """The Secret that an RTMP destination names."""
    name = address_of(resources, destination)["rtmpPush"]["keySecretRef"]["name"]
    return next(s for s in resources.secrets() if s["metadata"]["name"] == name)


def secrets_of(resources: StoredResources, destination: JsonObject) -> list[JsonObject]:
    label = destination["destinationId"]
    return [
        s
        for s in resources.secrets()
        if (s["metadata"].get("labels") or {}).get("onair.dev/destination") == label
    ]


KEY = "stream-key-5f2b91"
RTMP: JsonObject = {"rtmpPush": {"url": "rtmp://media.example/live", "key": KEY}}
STORAGE: JsonObject = {
    "objectStorage": {
        "region": "eu-central-1",
        "bucket": "shows",
        "prefix": "a/",
        "accessKey": "AKIA-5f2b92",
        "secretKey": "secret-5f2b93",
        "token": "token-5f2b94",
        "tokenDuration": 3_600_000,
        "acl": "OBJECT_ACL_PUBLIC_READ",
        "endpoint": "https://s3.example",
        "packaging": {
            "hls": {
                "lifecycle": {"live": {"playlistCount": 6, "fileCount": 12}},
                "segmentDuration": 4000,
            }
        },
    }
}
