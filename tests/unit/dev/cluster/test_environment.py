"""What `eval "$(make env)"` gives a shell."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest

from onair_dev import required_programs as programs
from onair_dev.cluster import environment
from onair_dev.failures import Failed
from onair_dev.settings import KUBECONFIG, url
from onair_dev.tools.cluster_tools import CLIENTS

PRINT_ALL = f"""
for each in {" ".join(CLIENTS)}; do command -v $each; done
echo $ONAIR_URL $ONAIR_API_KEY $KUBECONFIG
"""


def test_a_shell_finds_the_clients_the_api_and_the_cluster(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built, elsewhere = tmp_path / "built with spaces", tmp_path / "elsewhere"
    places = dict(zip(CLIENTS, (built, built, elsewhere), strict=True))
    for name, folder in places.items():
        folder.mkdir(exist_ok=True)
        (folder / name).touch(mode=0o755)
    monkeypatch.setattr(programs, "find", lambda name: places[name] / name)
    monkeypatch.setattr(programs, "own_folders", lambda: [built])
    monkeypatch.setattr(environment, "kubectl", lambda *_: base64.b64encode(b"a key'").decode())

    environment.export()

    run = ["sh", "-c", f"{capsys.readouterr().out}\n{PRINT_ALL}"]
    shell = subprocess.run(run, env={"PATH": os.defpath}, capture_output=True, text=True, check=True)
    *found, variables = shell.stdout.splitlines()
    assert found == [str(places[name] / name) for name in CLIENTS]
    assert variables == f"{url()} a key' {KUBECONFIG}"


def test_without_a_release_a_shell_still_finds_the_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "kubectl", lambda *_: "")
    with pytest.raises(Failed, match="cannot be read"):
        environment.export()
    printed = capsys.readouterr().out
    assert printed.startswith("export PATH=")
    assert f"export KUBECONFIG={KUBECONFIG}" in printed
