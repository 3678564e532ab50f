"""Base images, with a docker and a mmdebstrap that do what a test says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from onair_dev.cluster import base_images
from onair_dev.settings import NODE_BUILT, NODE_PUBLIC

KIND_NODE = Path(__file__).parents[4] / "images/kind-node"
MISSING = 'echo; echo "No such image" >&2; exit 1'
EMPTY, WHOLE = "echo 0", "echo 129097295"


class ScriptedPrograms:
    """Programs that are found before those of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.out = folder / "programs", folder / "out"
        self._folder.mkdir()
        self.calls = folder / "calls"
        self.environment = {
            **os.environ,
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "KIND_NODE_OUT": str(self.out),
        }

    def write(self, name: str, script: str) -> None:
        program = self._folder / name
        program.write_text(f"#!/bin/bash\n{script}\n")
        program.chmod(0o755)

    def docker(self, inspect: str) -> None:
        """Inspects an image by this script; what else is asked of it is written down."""
        record = f'echo "$1 ${{@: -2:1}}=$(cat "${{@: -2:1}}" 2>&1)" >> {self.calls}'
        self.write(
            "docker", f'case "$1 $2" in\n"image inspect") {inspect} ;;\n"image ls") ;;\n*) {record} ;;\nesac'
        )

    def build(
        self, *steps: str, kind_node: Path = KIND_NODE, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(kind_node / "build"), *steps],
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def asked(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def programs(tmp_path: Path) -> ScriptedPrograms:
    return ScriptedPrograms(tmp_path)


MAKES = """
for each; do case $each in */base.tar.new) echo whole > "$each"; exit 0 ;; esac; done
echo whole"""
FAILS = """
for each; do case $each in */base.tar.new) echo half > "$each" ;; esac; done
echo "no mirror responds" >&2; exit 25"""


@pytest.mark.parametrize("again", ["", "1"], ids=["first", "refresh"])
def test_a_base_that_cannot_be_made_leaves_what_there_was(programs: ScriptedPrograms, again: str) -> None:
    programs.docker(inspect=WHOLE if again else MISSING)
    programs.write("mmdebstrap", FAILS)
    ended = programs.build("base", FORCE=again)
    assert ended.returncode == 25
    assert "no mirror responds" in ended.stderr
    assert programs.asked() == []
    assert not (programs.out / "base.tar.new").exists()


@pytest.mark.parametrize("inspect", [MISSING, EMPTY], ids=["missing", "empty"])
def test_a_base_that_is_not_there_or_empty_is_made(programs: ScriptedPrograms, inspect: str) -> None:
    programs.docker(inspect)
    programs.write("mmdebstrap", MAKES)
    ended = programs.build("base")
    assert ended.returncode == 0, ended.stderr
    assert programs.asked() == [f"import {programs.out}/base.tar.new=whole"]
    assert not (programs.out / "base.tar.new").exists()


def test_a_base_that_is_there_stays(programs: ScriptedPrograms) -> None:
    programs.docker(inspect=WHOLE)
    programs.write("mmdebstrap", FAILS)
    assert "== base: exists" in programs.build("base").stdout
    assert programs.asked() == []


@pytest.mark.parametrize(("inspect", "has"), [(MISSING, False), (EMPTY, False), (WHOLE, True)])
def test_an_empty_image_is_none(
    programs: ScriptedPrograms, inspect: str, has: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.docker(inspect)
    monkeypatch.setenv("PATH", programs.environment["PATH"])
    assert base_images.has_image(base_images.BASE) is has


@pytest.mark.parametrize(
    ("age_s", "asks"),
    [(60, False), (2 * 3600, True), (-60, True)],
    ids=["a minute ago", "two hours ago", "by a clock that was ahead"],
)
def test_a_refusal_is_remembered_for_an_hour(
    programs: ScriptedPrograms, age_s: float, asks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.docker(MISSING)
    monkeypatch.setenv("PATH", programs.environment["PATH"])
    refusals = tmp_path / "pulls.json"
    refusals.write_text(json.dumps({base_images.BASE: time.time() - age_s}))
    monkeypatch.setattr(base_images, "REFUSALS", refusals)
    assert base_images.can_pull(base_images.BASE) is asks
    assert bool(programs.asked()) is asks


def hashed(function: str, kind_node: Path = KIND_NODE) -> str:
    """What a function of images/kind-node/inputs prints."""
    script = f'source "$0/env"; source "$0/inputs"; {function}'
    told = subprocess.run(["bash", "-c", script, kind_node], capture_output=True, text=True, check=True)
    return told.stdout.strip()


@pytest.mark.parametrize(
    ("step", "label", "exists"),
    [
        ("os", "os_inputs", True),
        ("os", "echo", False),
        ("node", "node_inputs", True),
        ("node", "os_inputs", False),
        ("node", "echo", False),
    ],
)
def test_an_image_of_a_node_is_made_anew_unless_its_label_is_of_the_present_inputs(
    programs: ScriptedPrograms, step: str, label: str, exists: bool
) -> None:
    programs.docker(inspect=f"echo {hashed(label)}")
    assert (f"== {step}: exists" in programs.build(step).stdout) is exists


def test_a_node_image_of_the_first_inputs_has_a_label_of_less(
    programs: ScriptedPrograms, tmp_path: Path
) -> None:
    copy = tmp_path / "kind-node"
    shutil.copytree(KIND_NODE, copy, ignore=shutil.ignore_patterns("out"))
    inputs = copy / "inputs"
    first = re.sub("^first=.*", f"first={hashed('node_inputs')}", inputs.read_text(), flags=re.MULTILINE)
    inputs.write_text(first)
    programs.docker(inspect=f"echo {hashed('inputs image')}")
    assert "== node: exists" in programs.build("node", kind_node=copy).stdout
    with (copy / "tools/go.mod").open("a") as module:
        module.write("// a dependency with a fix\n")
    assert "== node: exists" not in programs.build("node", kind_node=copy).stdout


@pytest.mark.parametrize(
    ("has", "public", "asks"),
    [
        ([], True, True),
        ([NODE_BUILT], False, False),
        ([NODE_PUBLIC], True, False),
        ([NODE_BUILT, NODE_PUBLIC], True, False),
    ],
    ids=["none", "built", "pulled", "both"],
)
def test_a_node_image_that_was_built_stays_once_the_public_one_can_be_pulled(
    programs: ScriptedPrograms,
    has: list[str],
    public: bool,
    asks: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    among = " || ".join(["false", *(f'[ "${{@: -1}}" = {each} ]' for each in has)])
    programs.docker(inspect=f"if {among}; then {WHOLE}; else {MISSING}; fi")
    monkeypatch.setenv("PATH", programs.environment["PATH"])
    monkeypatch.setattr(base_images, "REFUSALS", tmp_path / "pulls.json")
    assert base_images.has_public_node() is public
    assert bool(programs.asked()) is asks
