"""Which of the cluster's programs are kept: those that were built from the present inputs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from onair_dev.settings import KIND_NODE
from onair_dev.tools import cluster_tools


class BuiltOnce:
    """A copy of images/kind-node, and a folder with what was built from it."""

    def __init__(self, folder: Path) -> None:
        self.kind_node, self.out = folder / "kind-node", folder / "out"
        shutil.copytree(KIND_NODE, self.kind_node, ignore=shutil.ignore_patterns("out"))
        (self.out / "bin").mkdir(parents=True)
        (self.out / "bin/kubelet").touch()
        (self.out / "system.tar").touch()

    def kept(self) -> set[str]:
        cluster_tools.discard_stale()
        return {each.name for each in self.out.iterdir()} - {"bin.inputs", "system.tar.inputs"}

    def edit(self, file: str) -> None:
        with (self.kind_node / file).open("a") as edited:
            edited.write("# a fix\n")

    def make_first(self) -> None:
        """Makes the present inputs those from which outputs without a note are taken to be."""
        script = 'source "$0/env"; source "$0/inputs"; node_inputs'
        told = subprocess.run(
            ["bash", "-c", script, self.kind_node], capture_output=True, text=True, check=True
        )
        inputs = self.kind_node / "inputs"
        inputs.write_text(
            re.sub("^first=.*", f"first={told.stdout.strip()}", inputs.read_text(), flags=re.MULTILINE)
        )


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BuiltOnce:
    built = BuiltOnce(tmp_path)
    monkeypatch.setattr(cluster_tools, "KIND_NODE", built.kind_node)
    monkeypatch.setattr(cluster_tools, "KIND_NODE_OUT", built.out)
    return built


BOTH = {"bin", "system.tar"}


@pytest.mark.parametrize(
    ("edited", "kept"),
    [
        ("env", set()),
        ("tools/go.mod", set()),
        ("tools/coredns/main.go", set()),
        ("image/Dockerfile.os", {"bin"}),
        ("image/Dockerfile.system", {"bin"}),
        ("image/Dockerfile.node", BOTH),
        ("README.md", BOTH),
    ],
)
def test_what_was_built_from_other_inputs_is_deleted(edited: str, kept: set[str], built: BuiltOnce) -> None:
    built.make_first()
    assert built.kept() == BOTH
    built.edit(edited)
    assert built.kept() == kept


def test_what_is_built_after_that_stays(built: BuiltOnce) -> None:
    built.make_first()
    built.edit("tools/go.mod")
    assert built.kept() == set()
    (built.out / "bin").mkdir()
    (built.out / "system.tar").touch()
    assert built.kept() == BOTH


def test_what_has_no_note_is_deleted_unless_inputs_are_still_the_first(built: BuiltOnce) -> None:
    built.make_first()
    built.edit("env")
    assert built.kept() == set()


def test_a_machine_that_has_nothing_has_nothing_to_delete(built: BuiltOnce) -> None:
    shutil.rmtree(built.out)
    assert built.kept() == set()
