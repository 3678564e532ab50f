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


def test_the_url_of_redis_may_be_in_a_file(config: Path, tmp_path: Path) -> None:
    (tmp_path / "url").write_text("redis://:secret@r:6379/0\n")
    config.write_text(f"redis: {{urlFile: {tmp_path}/url}}")
    assert Settings().redis.url == "redis://:secret@r:6379/0"


@pytest.mark.parametrize(
    ("content", "others", "reason"),
    [
        (None, "", "url_file: No such file or directory"),
        (b" \n", "", "url_file: is empty"),
        (b"\xff", "", "url_file: is not UTF-8"),
        (b"redis://secret", ", url: redis://r", "url and url_file: give one of them"),
    ],
)
def test_a_file_without_a_url_of_redis_is_refused(
    config: Path, tmp_path: Path, content: bytes | None, others: str, reason: str
) -> None:
    if content is not None:
        (tmp_path / "url").write_bytes(content)
    config.write_text(f"redis: {{urlFile: {tmp_path}/url{others}}}")
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert reason in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["listen: {port: 70000}", "limits: {bodyBytes: x}", "cache: {inactivityS: 0}"]
)
def test_a_wrong_file_is_refused(config: Path, text: str) -> None:
    config.write_text(text)
    with pytest.raises(ValidationError):
        Settings()
