"""Bad manifests are refused with the field and the rule."""

from __future__ import annotations

import pytest
from tests.support.manifests import GOOD, PROJECT, STORAGE, NamespaceApi, merged

from onair_crds.shapes import Document

BAD = [
    # kind, change to a good spec, field that the response names, rule that it names
    (
        "Project",
        {"composition": {"scene": {}, "external": {"url": "https://a.example"}}},
        "spec.composition",
        "exactly one of studioSdk, scene, external must be given",
    ),
    ("Project", {"composition": {}}, "spec.composition", "exactly one of studioSdk, scene, external"),
    (
        "Project",
        {"composition": {"external": {"url": "ftp://x"}}},
        "spec.composition.external.url",
        "must be an http or https URL",
    ),
    (
        "Project",
        {"composition": {"external": {"url": "https://" + "x" * 2048}}},
        "spec.composition.external.url",
        "may not be more than 2048",
    ),
    ("Project", {"rendering": {"video": {"width": 1281}}}, "spec.rendering.video.width", "must be even"),
    (
        "Project",
        {"rendering": {"video": {"height": 238}}},
        "spec.rendering.video.height",
        "greater than or equal to 240",
    ),
    (
        "Project",
        {"rendering": {"video": {"framerate": 61}}},
        "spec.rendering.video.framerate",
        "less than or equal to 60",
    ),
    (
        "Project",
        {"rendering": {"targetLatency": 20}},
        "spec.rendering.targetLatency",
        "greater than or equal to 100",
    ),
    (
        "Project",
        {"encoding": {"video": {"rateControl": {"targetBitrate": 255_999}}}},
        "spec.encoding.video.rateControl.targetBitrate",
        "greater than or equal to 256000",
    ),
    (
        "Project",
        {"encoding": {"video": {"rateControl": {"targetBitrate": 20_971_521}}}},
        "spec.encoding.video.rateControl.targetBitrate",
        "less than or equal to 20971520",
    ),
    (
        "Project",
        {"encoding": {"video": {"profile": "Extended"}}},
        "spec.encoding.video.profile",
        'supported values: "Baseline", "Main", "High"',
    ),
    ("Project", {"maxDuration": 0}, "spec.maxDuration", "greater than or equal to 1"),
    ("Project", {"maxDuration": 604_800_001}, "spec.maxDuration", "less than or equal to 604800000"),
    ("Project", {"location": {"latitude": 91, "longitude": 0}}, "spec.location.latitude", "equal to 90"),
    ("Project", {"location": {"latitude": 1}}, "spec.location.longitude", "Required value"),
    ("Project", {"broadcast": {"state": "OnAir"}}, "spec.broadcast.state", 'supported values: "Running"'),
    ("Project", {"broadcast": {"id": "A b"}}, "spec.broadcast.id", "must be lower-case letters"),
    ("Project", {"broadcast": {"stopped": "A b"}}, "spec.broadcast.stopped", "must be lower-case letters"),
    ("Project", {"collectionId": "No Name"}, "spec.collectionId", "must be the name of a resource"),
    (
        "Project",
        {"sources": [{"sourceId": f"s{n}"} for n in range(101)]},
        "spec.sources",
        "must have at most 100 items",
    ),
    ("Project", {"sources": [{"sourceId": "a"}, {"sourceId": "a"}]}, "spec.sources[1]", "Duplicate value"),
    (
        "Destination",
        {"address": {"srtPush": {"url": "srt://a.example:9000"}}},
        "spec.address",
        "exactly one of rtmpPush, srtPush, rtcPlatform, objectStorage must be given",
    ),
    (
        "Destination",
        {"address": {"rtmpPush": {"url": "http://a.example"}}},
        "spec.address.rtmpPush.url",
        "must be an rtmp, rtmps or srt URL",
    ),
    (
        "Destination",
        {"address": {"rtmpPush": {"url": "rtmp://user:pass@a.example/live"}}},
        "spec.address.rtmpPush.url",
        "must hold no user name or password",
    ),
    *(
        (
            "Destination",
            {"address": {"rtmpPush": None, **address}},
            f"spec.address.{next(iter(address))}.url",
            "must name a port, as in srt://host:9000",
        )
        for address in (
            {"rtmpPush": {"url": "srt://a.example"}},
            {"srtPush": {"url": "srt://a.example?streamid=publish:9000"}},
            {"srtPush": {"url": "srt://[2001:db8::1]/"}},
        )
    ),
    ("Destination", {"address": {"rtmpPush": {"key": "k"}}}, "spec.address.rtmpPush.key", "keySecretRef"),
    (
        "Destination",
        {"address": {"rtmpPush": {"key": "k", "keySecretRef": {"name": "a", "key": "b"}}}},
        "spec.address.rtmpPush.key",
        "must not be given inline",
    ),
    (
        "Destination",
        {"address": {"rtmpPush": {"url": "srt://a.example:1?streamid=s&Passphrase=0123456789"}}},
        "spec.address.rtmpPush.url",
        "must not hold a passphrase",
    ),
    (
        "Destination",
        {"address": {"rtmpPush": None, "srtPush": {"url": "srt://a.example:1?passphrase=0123456789"}}},
        "spec.address.srtPush.url",
        "must not hold a passphrase",
    ),
    (
        "Destination",
        {"address": {"rtmpPush": {"passphraseSecretRef": {"name": "a", "key": "b"}}}},
        "spec.address.rtmpPush.passphraseSecretRef",
        "only an srt url has a passphrase",
    ),
    ("Destination", {"timeout": 99}, "spec.timeout", "greater than or equal to 100"),
    ("Destination", {"timeout": 30_001}, "spec.timeout", "less than or equal to 30000"),
    (
        "Destination",
        {"address": {"rtmpPush": None, "objectStorage": {**STORAGE, "acl": "Everyone"}}},
        "spec.address.objectStorage.acl",
        'supported values: "Private"',
    ),
    (
        "Destination",
        {
            "address": {
                "rtmpPush": None,
                "objectStorage": {**STORAGE, "packaging": {"hls": {"lifecycle": {"vod": {}, "live": {}}}}},
            }
        },
        "spec.address.objectStorage.packaging.hls.lifecycle",
        "exactly one of vod, live must be given",
    ),
    (
        "Source",
        {"address": {"srtPush": {}}},
        "spec.address",
        "exactly one of rtmpPush, srtPush, rtmpPull must be given",
    ),
    ("Collection", {"owner": {"serviceUserId": ""}}, "spec.owner.serviceUserId", "at least 1 char"),
    ("Collection", {"owner": None}, "spec.owner", "Required value"),
    ("Layout", {"width": 10_001}, "spec.width", "less than or equal to 10000"),
    (
        "Layout",
        {"layers": [{"id": "a", "type": "text", "opacity": 1.5}]},
        "spec.layers[0].opacity",
        "less than or equal to 1",
    ),
    (
        "Layout",
        {"layers": [{"id": "a", "type": "text", "parentId": "a"}]},
        "spec.layers",
        "a layer cannot be its own parent",
    ),
    (
        "Layout",
        {"transitions": [{"cut": {}, "crossfade": {"durationMs": 1}}]},
        "spec.transitions[0]",
        "exactly one of cut, crossfade, fadeToColor, swipe, stinger must be given",
    ),
    (
        "Layout",
        {"layers": [{"id": f"l{n}", "type": "text"} for n in range(501)]},
        "spec.layers",
        "must have at most 500 items",
    ),
]


@pytest.mark.parametrize(
    ("kind", "change", "field", "rule"),
    BAD,
    ids=[f"{kind}-{field}-{n}" for n, (kind, _, field, _) in enumerate(BAD)],
)
def test_a_bad_manifest_is_refused_with_field_and_rule(
    server: NamespaceApi, kind: str, change: Document, field: str, rule: str
) -> None:
    response = server.create(kind, merged(GOOD[kind], change))
    assert response.status_code == 422, response.text
    causes = response.json()["details"]["causes"]
    assert any(c["field"] == field and rule in c["message"] for c in causes), causes


def test_a_name_longer_than_an_id_is_refused(server: NamespaceApi) -> None:
    response = server.create("Project", PROJECT, name="x" * 64)
    assert response.status_code == 422
    assert "metadata.name must be at most 63 characters" in response.text
