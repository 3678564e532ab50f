"""Packages in what dpkg, Go and npm say. Pure."""

from __future__ import annotations

import json

from onair_dev.supply_chain.packages import Package, debian_packages, go_modules, npm_packages

STATUS = """Package: libc6
Status: install ok installed
Architecture: amd64
Source: glibc (2.36-9)
Version: 2.36-9+deb12u10
Description: GNU C Library
 Shared: libraries

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1
"""
TOLD = (
    "/tmp/mediamtx: go1.26.1\n\tpath\tgithub.com/bluenviron/mediamtx\n"
    "\tmod\tgithub.com/bluenviron/mediamtx\t(devel)\t\n"
    "\tdep\tgithub.com/pion/rtp\tv1.8.0\th1:abc=\n"
    "\tdep\tgithub.com/datarhei/gosrt\tv0.9.0\n\t=>\tgithub.com/ours/gosrt\tv0.10.0\th1:def=\n"
    "\tbuild\tCGO_ENABLED=0\n"
)


def test_installed_packages_of_debian_with_their_source() -> None:
    assert list(debian_packages(STATUS)) == [Package("deb", "libc6", "2.36-9+deb12u10", "amd64", "glibc")]


def test_modules_of_a_go_program_and_what_replaces_them() -> None:
    assert list(go_modules(TOLD)) == [
        Package("golang", "stdlib", "1.26.1"),
        Package("golang", "github.com/pion/rtp", "v1.8.0"),
        Package("golang", "github.com/ours/gosrt", "v0.10.0"),
    ]


def test_what_pages_contain_and_not_what_builds_them() -> None:
    packages = {
        "": {"name": "pages"},
        "compositor": {"version": "1.0.0"},
        "node_modules/compositor": {"link": True},
        "node_modules/@livekit/mutex": {"version": "1.1.1"},
        "node_modules/a/node_modules/b": {"version": "2.0.0"},
        "node_modules/esbuild": {"version": "0.25.0", "dev": True},
    }
    found = npm_packages(json.dumps({"packages": packages}))
    assert [(each.name, each.version) for each in found] == [("@livekit/mutex", "1.1.1"), ("b", "2.0.0")]
