"""Images that a node lacks are handed over to it out of the engine, under the names that pods use."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_dev import commands
from onair_dev.cluster import node_images, registry
from onair_dev.cluster.images import Image
from onair_dev.failures import Failed

IMAGES = [Image("api", "1", b""), Image("encoder", "2", b"")]
NAMES = [registry.reference_for_pods(image) for image in IMAGES]
DOCKER = """#!/bin/bash
echo "$*" >>"{log}"
case "$1 $*" in
  save*) echo "images:${{*:2}}"; exit {save} ;;
  exec*" ls -q") echo "{present}" ;;
  exec*import*) cat >>"{imported}" ;;
esac
"""


class FakeEngine:
    """A `docker` of its own, first in the PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._program, self._log, self._imported = (folder / each for each in ("docker", "log", "imported"))
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        monkeypatch.setattr(commands, "LOGS", folder)
        monkeypatch.setattr("onair_dev.cluster.node_images.time.sleep", lambda _: None)

    def has(self, present: str, save: int = 0) -> None:
        """What the node has, and how `docker save` ends."""
        script = DOCKER.format(log=self._log, imported=self._imported, present=present, save=save)
        self._program.write_text(script)
        self._program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self._log.read_text().splitlines()

    @property
    def imported(self) -> str:
        return self._imported.read_text() if self._imported.exists() else ""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    return FakeEngine(tmp_path, monkeypatch)


def test_what_a_node_lacks_is_handed_over_at_once(engine: FakeEngine) -> None:
    engine.has(NAMES[0])
    node_images.import_into("node-1", IMAGES)
    assert engine.imported == f"images:{NAMES[1]}\n"
    assert "exec --interactive node-1 ctr --namespace k8s.io images import -" in engine.calls


def test_a_node_that_has_all_is_left_alone(engine: FakeEngine) -> None:
    engine.has(" ".join(NAMES))
    node_images.import_into("node-1", IMAGES)
    assert len(engine.calls) == 1


def test_an_engine_that_fails_meanwhile_is_a_failure(engine: FakeEngine) -> None:
    """Although containerd takes what it was given."""
    engine.has("", save=1)
    with pytest.raises(Failed, match="node-1 could not import images"):
        node_images.import_into("node-1", IMAGES)
    assert sum(call.startswith("save") for call in engine.calls) == node_images.ATTEMPTS


def test_names_for_pods_go_again_whatever_happens(engine: FakeEngine) -> None:
    engine.has("")
    with pytest.raises(ZeroDivisionError), registry.named_for_pods(IMAGES):
        raise ZeroDivisionError
    assert engine.calls == [
        *(f"tag {image.reference} {name}" for image, name in zip(IMAGES, NAMES, strict=True)),
        f"image rm --no-prune {NAMES[0]} {NAMES[1]}",
    ]
