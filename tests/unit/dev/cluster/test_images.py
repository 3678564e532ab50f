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
