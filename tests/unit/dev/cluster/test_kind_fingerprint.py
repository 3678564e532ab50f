"""Which cluster is one of the present configuration: no word of the engine is no reason to delete it."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_dev.cluster import kind
from onair_dev.failures import Failed


def docker(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "docker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_it_follows_the_node_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docker(tmp_path, "echo sha256:1", monkeypatch)
    before = kind.fingerprint("kind-node:1")
    assert kind.fingerprint("kind-node:1") == before
    docker(tmp_path, "echo sha256:2", monkeypatch)
    assert kind.fingerprint("kind-node:1") != before


def test_an_engine_that_fails_is_not_taken_for_another_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker(tmp_path, "echo 'Cannot connect to the Docker daemon' >&2; exit 1", monkeypatch)
    with pytest.raises(Failed, match="`docker image` failed with exit code 1: Cannot connect"):
        kind.fingerprint("kind-node:1")
