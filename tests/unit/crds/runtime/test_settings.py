"""Settings: the file, the environment over it, arguments over both."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog

from onair_crds.runtime.settings import Part, ProgramSettings


class Listen(Part):
    port: int = 1
    host_name: str = "a"


class SampleSettings(ProgramSettings):
    log_level: str = "INFO"
    listen: Listen = Listen()
    doors: list[Listen] = []


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.yaml"
    monkeypatch.setenv("ONAIR_CONFIG", str(path))
    return path


def test_arguments_come_before_the_environment_and_that_before_the_file(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("logLevel: WARNING\nlisten: {port: 2, hostName: b}\n")
    monkeypatch.setenv("ONAIR_LISTEN__PORT", "3")
    settings = SampleSettings()
    assert (settings.log_level, settings.listen.port, settings.listen.host_name) == ("WARNING", 3, "b")
    assert SampleSettings(log_level="DEBUG").log_level == "DEBUG"


def test_without_a_file_there_are_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONAIR_CONFIG", raising=False)
    assert SampleSettings().listen.port == 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("level: INFO", ["level"]),
        ("listen: {prot: 1, hostName: b}", ["listen.prot"]),
        ("doors: [{port: 2}, {port: 3, name: x}]\nnone: {port: 1}", ["doors.name", "none"]),
        ("logLevel: INFO\nlisten: {host_name: b, port: 2}", []),
        ("", []),
    ],
)
def test_an_unknown_name_is_ignored_and_told(config: Path, text: str, names: list[str]) -> None:
    config.write_text(text)
    assert SampleSettings().log_level == "INFO"
    assert SampleSettings.unknown_names() == names
    with structlog.testing.capture_logs() as logged:
        SampleSettings.warn_of_unknown_names()
    assert [each["name"] for each in logged] == names
