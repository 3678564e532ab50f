"""The definitions themselves: structural, explained, listed by category and short name."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.manifests import GOOD, Server

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
