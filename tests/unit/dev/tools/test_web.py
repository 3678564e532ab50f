"""What the pages are built of, and that their lock file suits every registry."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from onair_dev import exclusive
from onair_dev.cluster import images
from onair_dev.tools import web


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(web, "WORKSPACE", tmp_path)
    (tmp_path / "page/src").mkdir(parents=True)
    (tmp_path / "page/src/main.ts").write_text("1")
    return tmp_path


def test_what_npm_and_the_build_write_is_no_source(workspace: Path) -> None:
    before = web.tag()
    for folder in ("node_modules", "page/dist", "page/build"):
        (workspace / folder).mkdir()
        (workspace / folder / "made.js").write_text("2")
    assert [file.name for file in web.sources()] == ["main.ts"]
    assert web.tag() == before


def test_a_changed_or_renamed_source_is_built_anew(workspace: Path) -> None:
    tags = {web.tag()}
    (workspace / "page/src/main.ts").write_text("2")
    tags.add(web.tag())
    (workspace / "page/src/main.ts").rename(workspace / "page/src/other.ts")
    tags.add(web.tag())
    assert len(tags) == 3


def test_two_that_need_the_pages_build_them_once(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def run(_: object, doing: str, *__: object) -> None:
        ran.append(doing)
        (workspace / "node_modules").mkdir(exist_ok=True)
        for page in web.PAGES:
            (workspace / page / "dist").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(web, "_run", run)
    monkeypatch.setattr(web, "CACHE", workspace.parent / "cache")
    monkeypatch.setattr(exclusive, "CACHE", workspace.parent / "cache")
    (workspace / "package-lock.json").write_text("{}")
    with ThreadPoolExecutor() as threads:
        first, second = threads.map(lambda _: web.ensure(), range(2))
    assert first == second
    assert [page.name for page in first.iterdir()] == list(web.PAGES)
    assert len(ran) == 2, "installed and built once"


def test_the_encoder_image_is_built_anew_with_the_pages() -> None:
    files = images.files_of(images.INPUTS["encoder"])
    assert web.WORKSPACE / "compositor/src/main.ts" in files
    assert not [file for file in files if "node_modules" in file.parts]


def test_the_lock_file_names_no_registry_and_a_hash_for_each_package() -> None:
    lock = json.loads((web.WORKSPACE / "package-lock.json").read_text())
    for name, package in lock["packages"].items():
        if "node_modules/" in name and not package.get("link"):
            assert "resolved" not in package, name
            assert package["integrity"].startswith("sha512-"), name


def test_every_package_is_listed_with_its_licence() -> None:
    lock = json.loads((web.WORKSPACE / "package-lock.json").read_text())
    listed = (web.WORKSPACE / "LICENCES.md").read_text()
    for name, package in lock["packages"].items():
        if "node_modules/" in name and not package.get("link") and not package.get("optional"):
            row = f"| {name.removeprefix('node_modules/')} | {package['license']} |"
            assert row in listed, row
