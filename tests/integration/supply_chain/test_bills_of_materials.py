"""What the bills of materials say of the images that were built here, against the lock files and Debian."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement

from onair_dev.cluster import images
from onair_dev.settings import ROOT
from onair_dev.supply_chain.packages import Package, packages_of


def names(found: list[Package], kind: str) -> dict[str, str]:
    return {each.name: each.version for each in found if each.kind == kind}


@pytest.mark.parametrize("name", ["api", "operator", "ingest", "encoder"])
def test_every_locked_python_package_is_in_the_bill_with_its_version(name: str) -> None:
    lock = (ROOT / f"requirements/{name}.txt").read_text()
    lines = [Requirement(each) for each in re.findall(r"^([a-z0-9]\S*==[^\\\n]+)", lock, re.MULTILINE)]
    environment = {"python_version": "3.11", "python_full_version": "3.11.2"}
    wanted = [each for each in lines if not each.marker or each.marker.evaluate(environment)]
    locked = {each.name: str(each.specifier).removeprefix("==") for each in wanted}
    assert locked
    found = packages_of(images.image(name))
    installed = names(found, "pypi")
    assert locked.items() <= installed.items(), locked.items() - installed.items()
    assert set(installed) == set(locked), "and no other"
    assert {"python3-minimal", "libc6"} <= names(found, "deb").keys()
    if name == "encoder":
        assert {"chromium", "ffmpeg", "nftables"} <= names(found, "deb").keys()
        assert "livekit-client" in names(found, "npm")


@pytest.mark.parametrize(
    ("name", "module"), [("mediamtx", "github.com/pion/rtp"), ("livekit", "github.com/pion/webrtc/v4")]
)
def test_programs_in_go_tell_their_modules(name: str, module: str) -> None:
    modules = names(packages_of(images.image(name)), "golang")
    assert module in modules
    assert re.fullmatch(r"1\.\d+.*", modules["stdlib"])


def test_redis_is_of_debian() -> None:
    found = packages_of(images.image("redis"))
    assert "redis-server" in names(found, "deb")
    assert {each.kind for each in found} == {"deb"}
