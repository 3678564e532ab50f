"""The definitions themselves: structural, explained, listed by category and short name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.manifests import GOOD, NamespaceApi
from tests.support.waiting import wait_for

from onair_crds.resources.kinds import KINDS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_definition_is_established_and_structural(admin: httpx.Client, crds: None, kind: Any) -> None:
    definition = admin.get(
        f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind.plural}.onair.dev"
    ).json()
    conditions = {c["type"]: c["status"] for c in definition["status"]["conditions"]}
    assert conditions["Established"] == "True"
    assert conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"


def test_kubectl_explains_fields_in_sentences(kubeconfig: Path, crds: None) -> None:
    def explain(path: str) -> str:
        command = ["kubectl", f"--kubeconfig={kubeconfig}", "explain", path]
        printed = subprocess.run(command, check=False, capture_output=True, text=True).stdout
        return " ".join(printed.split())

    # A CRD is served a moment before it is documented
    wait_for(lambda: explain("project.spec.rendering.video"), "kubectl explains projects", 60)
    video = explain("project.spec.rendering.video")
    assert "Width of the canvas in pixels; even. 320 to 3840, default 1280." in video
    assert "Frames per second" in video
    assert "bits per second" in explain("project.spec.encoding.video.rateControl.targetBitrate")


def test_every_kind_is_listed_by_its_category_and_short_name(server: NamespaceApi, kubeconfig: Path) -> None:
    for kind, spec in GOOD.items():
        server.create(kind, spec).raise_for_status()
    listed = subprocess.run(
        ["kubectl", f"--kubeconfig={kubeconfig}", "-n", server.namespace, "get", "onair", "-o", "name"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert {line.split(".")[0] for line in listed.split()} == {k.kind.lower() for k in KINDS}


def test_kubectl_get_shows_trouble_without_wide_columns(
    server: NamespaceApi, admin: httpx.Client, kubeconfig: Path
) -> None:
    base = f"/apis/onair.dev/v1alpha1/namespaces/{server.namespace}"
    headers = {"Content-Type": "application/merge-patch+json"}
    ended = {"id": "r", "phase": "Stopped", "start": "2026-05-01T12:00:00Z", "stop": "2026-05-01T13:00:00Z"}
    state = "OnAir, 9 of 12 destinations down"
    live = {
        "broadcast": {"id": "r", "phase": "Running"},
        "state": state,
        "onAirSince": "2026-05-01T12:00:00Z",
    }
    missing = {"connect": "Disconnected", "lastError": "Project show does not exist"}
    media = {"summary": "H.264 1280×720@30, AAC 48 kHz stereo"}
    camera = {"type": "RtmpPush", "connect": "Connected", "media": media, "since": "2026-05-01T12:00:00Z"}
    unused = {"type": "RtmpPush", "connect": "Disconnected", "lastError": "never connected"}
    for kind, plural, name, status in (
        ("Source", "sources", "camera-1", camera),
        ("Source", "sources", "unused", unused),
        ("Project", "projects", "live", live),
        ("Project", "projects", "ended", {"broadcast": ended, "state": "Stopped"}),
        ("Destination", "destinations", "main", missing),
    ):
        server.create(kind, GOOD[kind], name=name).raise_for_status()
        admin.patch(
            f"{base}/{plural}/{name}/status", json={"status": status}, headers=headers
        ).raise_for_status()

    def rows(plural: str) -> dict[str, dict[str, str]]:
        """What kubectl prints: by name, by column."""
        command = ["kubectl", f"--kubeconfig={kubeconfig}", "-n", server.namespace, "get", plural]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        header, *lines = printed.splitlines()
        starts = {match[0]: match.start() for match in re.finditer(r"\S+", header)}
        ends = [*list(starts.values())[1:], None]
        cells = [
            {name: line[at:end].strip() for (name, at), end in zip(starts.items(), ends, strict=True)}
            for line in lines
        ]
        return {row["NAME"]: row for row in cells}

    projects = rows("projects")
    assert (projects["live"]["PHASE"], projects["live"]["STATE"]) == ("Running", state)
    assert projects["live"]["STARTED"]
    assert (projects["ended"]["STATE"], projects["ended"]["STARTED"]) == ("Stopped", "")
    assert rows("destinations")["main"]["ERROR"] == "Project show does not exist"
    sources = rows("sources")
    assert list(sources["camera-1"]) == ["NAME", "TYPE", "CONNECT", "MEDIA", "SINCE", "ERROR"]
    shown = sources["camera-1"]
    assert (shown["TYPE"], shown["CONNECT"], shown["MEDIA"]) == ("RtmpPush", "Connected", media["summary"])
    assert shown["SINCE"]
    assert shown["ERROR"] == ""
    assert (sources["unused"]["CONNECT"], sources["unused"]["SINCE"]) == ("Disconnected", "")
    assert sources["unused"]["ERROR"] == "never connected"
