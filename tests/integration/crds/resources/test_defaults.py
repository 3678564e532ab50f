"""Good manifests are kept as they are, with defaults."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from tests.support.manifests import COLLECTION, DESTINATION, PROJECT, STORAGE, NamespaceApi

from onair_crds.resources.base import API_VERSION
from onair_crds.resources.kinds import KINDS
from onair_crds.shapes import Document


def test_defaults_appear(server: NamespaceApi) -> None:
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
            "broadcast": {"state": "Running", "id": "run-1", "stopped": "run-0"},
            "room": {
                "state": "Open",
                "opening": 3,
                "barred": [{"identity": "ben#2", "user": "ben", "token": "4f2a"}],
            },
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
def test_a_good_manifest_round_trips_unchanged(server: NamespaceApi, kind: str, spec: Document) -> None:
    created = server.create(kind, spec, fieldValidation="Strict")
    assert created.status_code == 201, created.text
    assert created.json()["spec"] == spec
    model = next(k for k in KINDS if k.kind == kind)
    assert model.model_validate(created.json()).spec.manifest() == spec  # type: ignore[attr-defined]


@pytest.mark.parametrize("server_side", [False, True], ids=["client-side", "server-side"])
def test_applying_another_member_of_a_one_of_works(
    server: NamespaceApi, kubeconfig: Path, tmp_path: Path, server_side: bool
) -> None:
    compositions: list[Document] = [
        {"scene": {"debug": True}},
        {"external": {"url": "https://a.example"}},
        {"studioSdk": {}},
    ]
    for composition in compositions:
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
