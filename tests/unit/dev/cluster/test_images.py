"""Tags of images follow from what goes into them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from onair_dev.cluster import base_images, images
from onair_dev.cluster.images import Image
from onair_dev.console_progress import Step
from onair_dev.settings import ROOT


def test_a_refresh_gives_every_image_another_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nodes take it: they have the former one by its tag."""
    asked = tmp_path / "packages-of"
    monkeypatch.setattr(base_images, "PACKAGES_OF", asked)
    before = images.image("redis").tag
    assert images.image("redis").tag == before
    asked.write_text("2026-11-23T09:00:00Z")
    assert images.image("redis").tag != before


def test_an_edit_while_images_are_built_waits_for_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the image that was just built is looked for by a tag that nobody has built."""
    monkeypatch.setattr(images, "ROOT", tmp_path)
    monkeypatch.setitem(images.INPUTS, "edited", ["page.html"])
    dockerfile, page = tmp_path / "images/edited/Dockerfile", tmp_path / "page.html"
    dockerfile.parent.mkdir(parents=True)
    dockerfile.touch()
    page.write_text("before")
    built = images.image("edited")
    page.write_text("after")
    assert images.image("edited") == built


def test_what_builds_leave_untagged_can_be_told_from_other_projects_images(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands: list[list[str]] = []

    def output_of(command: list[str], **_: object) -> str:
        commands.append(command)
        return ""

    monkeypatch.setattr(images, "output_of", output_of)
    images.remove_all()
    pruning = [command for command in commands if "prune" in command]
    assert [command[-2:] for command in pruning] == [["--filter", f"label={images.LABEL}"]]


@pytest.mark.parametrize("name", sorted(images.INPUTS))
def test_stages_that_no_other_begins_with_have_our_label(name: str) -> None:
    """They are left untagged; the last stage gets the label and its tag from the build."""
    first, *others = (ROOT / f"images/{name}/Dockerfile").read_text().split("\nFROM ")[1:]
    *stages, _ = [first, *others]
    for stage in stages:
        stage_name = stage.splitlines()[0].split(" AS ")[1]
        is_base = any(each.split()[0] == stage_name for each in others)
        assert is_base or f"\nLABEL {images.LABEL}=" in stage, stage_name


def test_packages_are_fetched_by_the_proxies_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name: their values, which may have passwords, are no arguments."""
    for name in images.PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://user:secret@proxy:3128")
    monkeypatch.setenv("NO_PROXY", "localhost")
    commands: list[list[str]] = []
    monkeypatch.setattr(images, "CACHE", tmp_path)
    monkeypatch.setattr(images, "output_of", lambda _: "")
    monkeypatch.setattr(Step, "run", lambda _, __, ___, command, **____: commands.append(command))
    images.build(Step("image redis"), Image("redis", "0123456789ab", b""))
    (command,) = commands
    given = [value for option, value in itertools.pairwise(command) if option == "--build-arg"]
    assert given == ["https_proxy", "NO_PROXY"]
