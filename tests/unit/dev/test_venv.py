""".venv is used as it is only while it holds what is locked, and a Python that runs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from onair_dev import venv
from onair_dev.failures import Failed


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Python that a fresh .venv was made of."""
    program = tmp_path / "usr/bin/python3.11"
    folder = tmp_path / ".venv"
    for each in (program.parent, folder / "bin"):
        each.mkdir(parents=True)
    program.touch()
    (program.parent / "python3").symlink_to(program)
    (folder / "bin/python").symlink_to(program.parent / "python3")
    monkeypatch.setattr(venv, "VENV", folder)
    monkeypatch.setattr(venv, "PYTHON", folder / "bin/python")
    monkeypatch.setattr(venv, "STAMP", folder / "onair-lock")
    venv.STAMP.write_text(venv.fingerprint())
    assert venv.is_fresh()
    return program


def test_an_upgrade_of_the_machine_that_removes_its_python_is_noticed(python: Path) -> None:
    python.unlink()
    assert not venv.is_fresh()


def test_an_upgrade_of_the_machine_to_another_python_is_noticed(python: Path) -> None:
    newer = python.with_name("python3.13")
    newer.touch()
    (python.parent / "python3").unlink()
    (python.parent / "python3").symlink_to(newer)
    assert not venv.is_fresh()


def test_an_install_that_fails_leaves_no_fresh_venv(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the former lock file comes back: packages of both may be there."""

    def fail(*_: object) -> None:
        raise Failed("no network")

    with monkeypatch.context() as changed:
        changed.setattr(venv, "LOCK", Path(sys.executable))
        changed.setattr(venv, "ensure_python", fail)
        with pytest.raises(Failed):
            venv.ensure(lambda _: None)
    assert not venv.is_fresh()
