"""Tags of images follow from what goes into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_dev.cluster import base_images, images


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
