"""Settings: the file, the environment over it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from onair_api.settings import Settings


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.yaml"
    monkeypatch.setenv("ONAIR_CONFIG", str(path))
    return path


def test_the_environment_comes_before_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("showNamespace: file\nlisten: {port: 1234}\ncors: {origins: [https://a.example]}\n")
    monkeypatch.setenv("ONAIR_LISTEN__PORT", "4321")
    settings = Settings()
    assert (settings.show_namespace, settings.listen.port) == ("file", 4321)
    assert settings.cors.origins == ["https://a.example"]


def test_the_release_namespace_is_the_pods_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POD_NAMESPACE", "studio")
    assert Settings().release_namespace == "studio"
    assert Settings(release_namespace="named").release_namespace == "named"


@pytest.mark.parametrize(
    "text", ["listen: {port: 70000}", "nothing: 1", "limits: {bodyByte: 5}", "cache: {inactivityS: 0}"]
)
def test_a_wrong_file_is_refused(config: Path, text: str) -> None:
    config.write_text(text)
    with pytest.raises(ValidationError):
        Settings()
