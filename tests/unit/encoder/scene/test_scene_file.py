"""Layouts survive the agent, and a volume that fails costs no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_crds.contract.scene import ProgramLayout, SceneLayer
from onair_encoder.scene import scene_file

LAYOUTS = [
    ProgramLayout(
        id="stage",
        resource_version=7,
        type="SCENE",
        width=1280,
        height=720,
        layers=[SceneLayer(id="root", type="root", data={"a": [1, None]})],
    )
]


def test_what_was_stored_is_loaded_and_is_this_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "scene.json"
    assert scene_file.load(path) == []
    scene_file.store(path, LAYOUTS)
    assert scene_file.load(path) == LAYOUTS
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "{", "[{}]", "null"])
def test_what_cannot_be_read_is_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "scene.json"
    path.write_text(content)
    assert scene_file.load(path) == []


def test_a_volume_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    scene_file.store(tmp_path / "missing" / "scene.json", LAYOUTS)
