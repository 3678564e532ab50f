"""Secrets in the settings of servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.core_dumps import CoreDumps

from onair_crds.runtime.server_settings import BadSettings, completed, main

SECRET = "a secret of somebody"


def test_secrets_are_put_in_their_places_and_the_rest_stays() -> None:
    settings = {"redis": {"address": "r:6379"}, "port": 7880, "empty": None}
    found = completed(settings, {"redis.password": "p", "empty.deep.name": "q", "top": "t"})
    assert found == {
        "redis": {"address": "r:6379", "password": "p"},
        "port": 7880,
        "empty": {"deep": {"name": "q"}},
        "top": "t",
    }
    assert settings == {"redis": {"address": "r:6379"}, "port": 7880, "empty": None}


def test_a_name_below_a_value_is_refused() -> None:
    with pytest.raises(BadSettings, match=r"^port\.name: port is not a mapping in the settings$"):
        completed({"port": 7880}, {"port.name": "p"})


@pytest.mark.parametrize(("host_ip", "cidr"), [("172.18.0.3", "172.18.0.3/32"), ("fd00::3", "fd00::3/128")])
def test_the_nodes_address_is_put_where_the_settings_name_it(host_ip: str, cidr: str) -> None:
    settings = {"rtc": {"ips": {"includes": ["$(HOST_CIDR)"]}, "port": 1}}
    assert completed(settings, {}, host_ip) == {"rtc": {"ips": {"includes": [cidr]}, "port": 1}}


@pytest.mark.parametrize("host_ip", ["", "172.18.0.3/16", "node"])
def test_settings_that_name_the_nodes_address_need_it(host_ip: str) -> None:
    with pytest.raises(BadSettings, match="HOST_IP: must be the address of the node"):
        completed({"ips": ["$(HOST_CIDR)"]}, {}, host_ip)
    assert completed({"port": 1}, {}, host_ip) == {"port": 1}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "in.yaml").write_text("redis: {address: r}\n")
    (tmp_path / "password").write_text(f"{SECRET}\n")
    return tmp_path


def test_the_file_is_readable_by_its_user_alone_and_written_again(files: Path) -> None:
    arguments = [f"{files}/in.yaml", f"{files}/out", f"redis.password={files}/password"]
    main(arguments)
    (files / "password").write_text("another")
    main(arguments)
    assert json.loads((files / "out").read_text()) == {"redis": {"address": "r", "password": "another"}}
    assert (files / "out").stat().st_mode & 0o777 == 0o400


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("in.yaml", "a: [", "in.yaml: is not YAML"),
        ("in.yaml", "- a", "in.yaml: is not a mapping"),
        ("in.yaml", f"redis: {SECRET}", "redis.password: redis is not a mapping in the settings"),
        ("password", " \n", "password: is empty"),
        ("password", None, "password: No such file or directory"),
    ],
)
def test_what_is_wrong_is_one_sentence_without_a_secret(
    files: Path, name: str, content: str | None, reason: str
) -> None:
    (files / name).write_text(content) if content is not None else (files / name).unlink()
    command = [sys.executable, "-m", "onair_crds.runtime.server_settings", "in.yaml", "out"]
    run = subprocess.run(
        [*command, "redis.password=password"], cwd=files, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (1, f"server_settings: {reason}\n")
    assert SECRET not in run.stderr
    assert not (files / "out").exists()


def test_a_secret_that_is_not_text_is_refused(files: Path) -> None:
    (files / "password").write_bytes(b"\xff\xfe")
    with pytest.raises(BadSettings, match="password: is not UTF-8"):
        main([f"{files}/in.yaml", f"{files}/out", f"redis.password={files}/password"])


@pytest.mark.parametrize("arguments", [[], ["in.yaml"], ["in.yaml", "out", "redis.password"]])
def test_other_arguments_are_refused(arguments: list[str]) -> None:
    with pytest.raises(BadSettings, match=r"expected: SOURCE TARGET \[NAME=FILE"):
        main(arguments)


def test_it_leaves_no_core_dump(files: Path) -> None:
    """It has secrets in its memory, if for a moment: this one waits for what the settings are."""
    source = files / "waits.yaml"
    os.mkfifo(source)
    allowed = ["sh", "-c", 'ulimit -S -c "$(ulimit -H -c)"; exec "$0" "$@"', sys.executable]
    command = [*allowed, "-m", "onair_crds.runtime.server_settings", str(source), "out"]
    with subprocess.Popen(command, cwd=files) as process:
        # Opened once the program reads from it
        with source.open("w") as settings:
            seen = CoreDumps.of_process(process.pid)
            settings.write("port: 7880\n")
        assert process.wait(30) == 0
    assert seen.limited, seen.limit
    assert json.loads((files / "out").read_text()) == {"port": 7880}
