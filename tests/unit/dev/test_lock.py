"""Lock files tell from what they were generated."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onair_dev import lock


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the lock files and their declarations."""
    copied = tmp_path / "requirements"
    shutil.copytree(lock.FOLDER, copied)
    monkeypatch.setattr(lock, "FOLDER", copied)
    return copied


def test_those_of_this_checkout_are_fresh() -> None:
    assert lock.check() == 0


@pytest.mark.parametrize("name", lock.CARRIERS)
def test_another_version_of_a_carrier_has_to_be_locked(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / f"{name}.in").open("a") as declared:
        declared.write("another==1.0\n")
    assert lock.check() == 1
    assert f"requirements: {name}.txt stale" in capsys.readouterr().out
