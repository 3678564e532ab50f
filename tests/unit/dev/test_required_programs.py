"""The one list of programs: all that code starts is in it, and what is missing is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.support.started_programs import in_source

from onair_dev import required_programs as programs
from onair_dev.required_programs import BY_NAME, ProgramOrigin, RequiredProgram

ROOT = Path(__file__).parents[3]
SOURCES = sorted([*(ROOT / "dev").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_program_that_code_starts_is_in_the_list(path: Path) -> None:
    assert in_source(path.read_text()) <= BY_NAME.keys()


def test_a_program_is_found_in_every_way_to_start_it() -> None:
    source = """
PROBE = ["ffprobe", "-v", "error"]
def look(file):
    command = [*PROBE, file]
    subprocess.run(command)
    output_of(["docker", "ps"])
    asyncio.create_subprocess_exec(*("nice", "ffmpeg"))
"""
    assert in_source(source) == {"ffprobe", "docker", "nice"}


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, and caches that hold nothing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return tmp_path


def fake(folder: Path, name: str, prints: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{prints}'\n")
    file.chmod(0o755)


def test_a_program_that_is_too_old_counts_as_missing(only: Path) -> None:
    go = RequiredProgram("go", ProgramOrigin.WHEEL, version=("version",), oldest=(1, 26))
    fake(only, "go", "go version go1.19.8 linux/amd64")
    assert not programs.runs(go, only / "go")
    fake(only, "go", "go version go1.26.0 linux/amd64")
    assert programs.runs(go, only / "go")


def test_a_program_that_does_not_run_counts_as_missing(only: Path) -> None:
    (only / "ffmpeg").write_text("#!/nonexistent\n")
    (only / "ffmpeg").chmod(0o755)
    assert programs.find("ffmpeg") is None


def test_what_a_command_lacks_is_named_with_its_packages(only: Path) -> None:
    absent = programs.missing("test", [ProgramOrigin.PACKAGE])
    assert {"docker", "ffmpeg", "ffprobe", "redis-server"} <= {program.name for program in absent}
    assert programs.packages_of(absent) == [
        "docker.io",
        "mmdebstrap",
        "ffmpeg",
        "mount",
        "redis-server",
        "curl",
        "faketime",
        "gstreamer1.0-tools",
        "gstreamer1.0-plugins-base",
        "gstreamer1.0-plugins-good",
        "gstreamer1.0-plugins-bad",
        "gstreamer1.0-plugins-ugly",
        "srt-tools",
    ]
    assert "redis-server" not in {
        program.name for program in programs.missing("demo", [ProgramOrigin.PACKAGE])
    }


def test_what_was_installed_into_the_cache_comes_before_path(
    only: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = tmp_path_factory.mktemp("cache")
    go = RequiredProgram("go", ProgramOrigin.WHEEL, folders=(cached,))
    monkeypatch.setattr(programs, "PROGRAMS", (go,))
    assert programs.search_path().split(os.pathsep)[0] == str(cached)


def test_tools_with_ca_certificates_of_their_own_trust_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "ca-certificates.crt"
    store.touch()
    monkeypatch.setattr(programs, "SYSTEM_CA_CERTIFICATES", store)
    for name in programs.TRUST:
        monkeypatch.delenv(name, raising=False)
    assert programs.trust().keys() == {"NODE_EXTRA_CA_CERTS", "PIP_CERT", "UV_SYSTEM_CERTS"}
    monkeypatch.setenv("PIP_CERT", "chosen.pem")
    assert "PIP_CERT" not in programs.trust()
    store.unlink()
    assert programs.trust() == {}
