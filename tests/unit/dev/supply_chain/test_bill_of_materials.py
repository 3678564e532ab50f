"""A bill of materials is CycloneDX that scanners read. Pure."""

from __future__ import annotations

import json

from onair_dev.cluster.images import Image
from onair_dev.supply_chain.bill_of_materials import bill
from onair_dev.supply_chain.packages import Package

PACKAGES = [
    Package("deb", "libc6", "2.36-9+deb12u10", "amd64", "glibc"),
    Package("golang", "github.com/pion/rtp", "v1.8.0"),
    Package("npm", "@livekit/mutex", "1.1.1"),
    Package("pypi", "aiohttp", "3.13.0"),
]


def test_each_package_has_its_url() -> None:
    text = bill(Image("encoder", "0123456789ab", b""), PACKAGES)
    document = json.loads(text)
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "onair/encoder"
    assert {each["purl"] for each in document["components"]} == {
        "pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64&distro=debian-12&upstream=glibc",
        "pkg:golang/github.com/pion/rtp@v1.8.0",
        "pkg:npm/%40livekit/mutex@1.1.1",
        "pkg:pypi/aiohttp@3.13.0",
    }
