"""What a first run says before it installs anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from onair_dev import preflight, required_programs, venv
from onair_dev.bootstrap import FIRST_RUN, main
from onair_dev.preflight import Say
from onair_dev.settings import ROOT

INSTALLS = "      installing ffmpeg\n"


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What had been printed when each installation began."""
    printed: list[str] = []

    def install(*arguments: object) -> None:
        say: Say = arguments[-1]  # type: ignore[assignment]
        say("installing ffmpeg")
        printed.append(capfd.readouterr().err)

    monkeypatch.setattr(preflight, "check", install)
    monkeypatch.setattr(preflight, "check_platform", lambda: None)
    monkeypatch.setattr(preflight, "ensure_venv_module", install)
    monkeypatch.setattr(venv, "ensure", install)
    monkeypatch.setattr(required_programs, "trust", dict)
    return printed


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (
            "demo",
            "      the first time this takes 10 to 25 minutes on two cores; later runs reuse the builds\n",
        ),
        (
            "test",
            "      the first time this takes 15 to 30 minutes on two cores; later runs reuse the builds\n",
        ),
        ("venv", ""),
    ],
)
def test_a_first_run_says_how_long_it_takes_before_it_installs_anything(
    command: str, line: str, printed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bootstrap", command])
    monkeypatch.setattr(required_programs, "BUILT", tmp_path / "bin")
    main()
    assert printed == [line + INSTALLS, INSTALLS], "once"


def test_a_later_run_says_nothing_of_it(
    printed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bootstrap", "demo"])
    monkeypatch.setattr(required_programs, "BUILT", tmp_path)
    main()
    assert printed == [INSTALLS, INSTALLS]


def test_the_readme_says_the_same() -> None:
    assert f"The first `make demo` takes {FIRST_RUN['demo']} on two cores" in (ROOT / "README.md").read_text()
