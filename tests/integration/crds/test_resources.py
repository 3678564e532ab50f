"""What a real API server says to good and bad manifests."""

from __future__ import annotations

import copy
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from onair_crds.resources.base import API_VERSION
from onair_crds.resources.kinds import KINDS

Document = dict[str, Any]

PROJECT: Document = {"collectionId": "sunday"}
DESTINATION: Document = {"projectId": "show", "address": {"rtmpPush": {"url": "rtmp://media.example/live"}}}
SOURCE: Document = {"collectionId": "sunday", "address": {"rtmpPush": {}}}
COLLECTION: Document = {"owner": {"serviceId": "studio", "serviceUserId": "anna"}}
LAYOUT: Document = {"projectId": "show"}
GOOD = {
    "Collection": COLLECTION,
    "Project": PROJECT,
    "Source": SOURCE,
    "Destination": DESTINATION,
    "Layout": LAYOUT,
}
PLURAL = {kind.kind: kind.plural for kind in KINDS}
STORAGE: Document = {
    "region": "eu-central-1",
    "bucket": "shows",
    "accessKeySecretRef": {"name": "s3", "key": "id"},
    "secretKeySecretRef": {"name": "s3", "key": "secret"},
    "packaging": {"hls": {}},
}


def merged(base: Document, change: Document) -> Document:
    result = copy.deepcopy(base)
    for key, value in change.items():
        result[key] = (
            merged(result[key], value)
            if isinstance(value, dict) and isinstance(result.get(key), dict)
            else value
        )
    return result


class Server:
    """The API of one namespace."""

    def __init__(self, admin: httpx.Client, namespace: str) -> None:
        self.admin, self.namespace = admin, namespace

    def path(self, kind: str, name: str = "") -> str:
        return f"/apis/{API_VERSION}/namespaces/{self.namespace}/{PLURAL[kind]}" + (
            f"/{name}" if name else ""
        )

    def create(self, kind: str, spec: Document, name: str = "x", **params: str) -> httpx.Response:
        body = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        return self.admin.post(self.path(kind), json=body, params=params)

    def put(self, kind: str, document: Document) -> httpx.Response:
        return self.admin.put(self.path(kind, document["metadata"]["name"]), json=document)


@pytest.fixture
def server(admin: httpx.Client, crds: None, namespace: str) -> Server:
    return Server(admin, namespace)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_definition_is_established_and_structural(admin: httpx.Client, crds: None, kind: Any) -> None:
    definition = admin.get(
        f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind.plural}.onair.dev"
    ).json()
    conditions = {c["type"]: c["status"] for c in definition["status"]["conditions"]}
    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"


BAD = [
    # kind, change to a good spec, field that the answer names, rule that it names
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
    server: Server, kind: str, change: Document, field: str, rule: str
) -> None:
    answer = server.create(kind, merged(GOOD[kind], change))
    assert answer.status_code == 422, answer.text
    causes = answer.json()["details"]["causes"]
    assert any(c["field"] == field and rule in c["message"] for c in causes), causes


def test_a_name_longer_than_an_id_is_refused(server: Server) -> None:
    answer = server.create("Project", PROJECT, name="x" * 64)
    assert answer.status_code == 422
    assert "metadata.name must be at most 63 characters" in answer.text


IMMUTABLE = [
    ("Project", {"collectionId": "other"}, "spec.collectionId"),
    ("Destination", {"projectId": "other"}, "spec.projectId"),
    ("Source", {"collectionId": "other"}, "spec.collectionId"),
    ("Layout", {"projectId": "other"}, "spec.projectId"),
    ("Collection", {"owner": {"serviceId": "other"}}, "spec.owner.serviceId"),
    ("Collection", {"owner": {"serviceUserId": "other"}}, "spec.owner.serviceUserId"),
]


@pytest.mark.parametrize(("kind", "change", "field"), IMMUTABLE, ids=[f"{k}-{f}" for k, _, f in IMMUTABLE])
def test_an_immutable_id_can_neither_change_nor_go(
    server: Server, kind: str, change: Document, field: str
) -> None:
    created = server.create(kind, GOOD[kind]).json()
    changed = server.put(kind, merged(created, {"spec": change}))
    assert changed.status_code == 422
    assert any(
        c["field"] == field and "cannot be changed" in c["message"]
        for c in changed.json()["details"]["causes"]
    )
    removed = copy.deepcopy(created)
    *parents, last = field.split(".")
    node = removed
    for parent in parents:
        node = node[parent]
    del node[last]
    gone = server.put(kind, removed)
    assert gone.status_code == 422
    assert any(c["field"] == field and "Required" in c["message"] for c in gone.json()["details"]["causes"])


def test_a_layouts_collection_is_set_once(server: Server) -> None:
    layout = server.create("Layout", LAYOUT).json()
    layout["spec"]["collectionId"] = "sunday"
    layout = server.put("Layout", layout).raise_for_status().json()
    for change in ({"collectionId": "monday"}, {}):
        spec = {k: v for k, v in layout["spec"].items() if k != "collectionId"} | change
        answer = server.put("Layout", {**layout, "spec": spec})
        assert answer.status_code == 422
        assert "collectionId cannot be changed or removed once set" in answer.text


def test_defaults_appear(server: Server) -> None:
    spec = server.create("Project", PROJECT).json()["spec"]
    assert spec["rendering"]["video"] == {
        "width": 1280,
        "height": 720,
        "framerate": 30,
        "colorSpace": "YUV420",
    }
    assert spec["rendering"]["targetLatency"] == 500
    assert spec["encoding"]["video"]["profile"] == "High"
    assert spec["encoding"]["video"]["rateControl"] == {"mode": "CBR", "maxKeyFrameInterval": 30}
    assert spec["maxDuration"] == 172_800_000
    assert spec["broadcast"] == {"state": "Stopped"}
    assert "composition" not in spec
    destination = server.create("Destination", DESTINATION).json()["spec"]
    assert (destination["enabled"], destination["timeout"]) == (True, 5000)
    partial = server.create("Project", {**PROJECT, "rendering": {"video": {"width": 640}}}, name="y").json()
    assert partial["spec"]["rendering"]["video"]["height"] == 720


FULL = [
    (
        "Project",
        {
            "collectionId": "sunday",
            "metadata": {"any": ["thing", 1, None, {"deep": True}]},
            "rendering": {
                "video": {"width": 1920, "height": 1080, "framerate": 29.97, "colorSpace": "YUV420"},
                "audio": {"channelLayout": "Stereo"},
                "quality": "High",
                "targetLatency": 1000,
                "complexity": -2,
            },
            "encoding": {
                "video": {
                    "codec": "H264",
                    "profile": "Main",
                    "rateControl": {"mode": "CBR", "targetBitrate": 6_000_000, "maxKeyFrameInterval": 60},
                },
                "audio": {"codec": "AAC"},
            },
            "composition": {"external": {"url": "https://graphics.example.org:8443/stage?x=1"}},
            "maxDuration": 1,
            "webrtc": {"hosted": {"enabled": True}},
            "location": {"latitude": 52.5, "longitude": 13.4},
            "sources": [{"sourceId": "cam", "trigger": {"start": "Or", "stop": "Ignore"}}],
            "broadcast": {"state": "Running", "id": "run-1"},
        },
    ),
    (
        "Destination",
        {
            "projectId": "show",
            "metadata": "a string is a JSON value too",
            "enabled": False,
            "timeout": 100,
            "address": {
                "objectStorage": {**STORAGE, "acl": "PublicRead", "endpoint": "http://s3.example:9000"}
            },
        },
    ),
    (
        "Layout",
        {
            "projectId": "show",
            "collectionId": "sunday",
            "type": "Scene",
            "width": 1920,
            "height": 1080,
            "metadata": {"a": 1},
            "transitions": [{"fromLayoutIds": ["a"], "crossfade": {"durationMs": 500}}],
            "layers": [
                {
                    "id": "root",
                    "type": "root",
                    "data": {},
                    "rotation": 0,
                    "opacity": 1,
                    "scale": 1,
                    "hidden": False,
                    "children": ["t"],
                },
                {
                    "id": "t",
                    "type": "text",
                    "data": {"text": "hi"},
                    "x": -5,
                    "y": 0,
                    "width": 10,
                    "height": 10,
                    "rotation": -90.5,
                    "opacity": 0.5,
                    "scale": 2,
                    "hidden": True,
                    "children": [],
                    "parentId": "root",
                },
            ],
        },
    ),
    ("Source", {"collectionId": "sunday", "address": {"rtmpPull": {"url": "rtmp://cam.example/live/1"}}}),
    ("Collection", {**COLLECTION, "metadata": 42}),
]


@pytest.mark.parametrize(("kind", "spec"), FULL, ids=[kind for kind, _ in FULL])
def test_a_good_manifest_round_trips_unchanged(server: Server, kind: str, spec: Document) -> None:
    created = server.create(kind, spec, fieldValidation="Strict")
    assert created.status_code == 201, created.text
    assert created.json()["spec"] == spec
    model = next(k for k in KINDS if k.kind == kind)
    assert model.model_validate(created.json()).spec.manifest() == spec  # type: ignore[attr-defined]


@pytest.mark.parametrize("server_side", [False, True], ids=["client-side", "server-side"])
def test_applying_another_member_of_a_one_of_works(
    server: Server, kubeconfig: Path, tmp_path: Path, server_side: bool
) -> None:
    for composition in (
        {"scene": {"debug": True}},
        {"external": {"url": "https://a.example"}},
        {"studioSdk": {}},
    ):
        manifest = {
            "apiVersion": API_VERSION,
            "kind": "Project",
            "metadata": {"name": "show", "namespace": server.namespace},
            "spec": {**PROJECT, "composition": composition},
        }
        path = tmp_path / "show.yaml"
        path.write_text(yaml.safe_dump(manifest))
        flags = ["--server-side"] if server_side else []
        subprocess.run(
            ["kubectl", f"--kubeconfig={kubeconfig}", "apply", *flags, "-f", str(path)],
            check=True,
            capture_output=True,
        )
        stored = server.admin.get(server.path("Project", "show")).json()
        assert stored["spec"]["composition"] == composition


def test_kubectl_explains_fields_in_sentences(kubeconfig: Path, crds: None) -> None:
    def explain(path: str) -> str:
        return subprocess.run(
            ["kubectl", f"--kubeconfig={kubeconfig}", "explain", path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    video = explain("project.spec.rendering.video")
    assert "Width of the canvas in pixels; even." in video
    assert "Frames per second." in video
    assert "bits per second" in explain("project.spec.encoding.video.rateControl.targetBitrate")


def test_every_kind_is_listed_by_its_category_and_short_name(server: Server, kubeconfig: Path) -> None:
    for kind, spec in GOOD.items():
        server.create(kind, spec).raise_for_status()
    listed = subprocess.run(
        ["kubectl", f"--kubeconfig={kubeconfig}", "-n", server.namespace, "get", "onair", "-o", "name"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert {line.split(".")[0] for line in listed.split()} == {k.kind.lower() for k in KINDS}
