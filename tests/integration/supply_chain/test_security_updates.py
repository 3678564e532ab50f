"""What a scan says of an image whose mirror does not respond."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator

import pytest

from onair_dev.cluster import images
from onair_dev.failures import Failed
from onair_dev.supply_chain.security_updates import updates_of

SOURCES = "deb http://127.0.0.1:9/debian bookworm main"
"""Nothing listens there."""


@pytest.fixture
def cut_off() -> Iterator[str]:
    """An image of ours whose package sources are of a mirror that does not respond."""
    reference = f"onair-test-cut-off:{uuid.uuid4().hex[:12]}"
    dockerfile = f"""
FROM {images.image("redis").reference}
USER 0
RUN rm -rf /etc/apt/sources.list.d/* && echo '{SOURCES}' > /etc/apt/sources.list
"""
    build = ["docker", "build", "--quiet", "--tag", reference, "-"]
    subprocess.run(build, input=dockerfile.encode(), check=True, capture_output=True)
    yield reference
    subprocess.run(["docker", "image", "rm", "--force", reference], check=True, capture_output=True)


def test_an_image_is_not_called_up_to_date_without_a_mirror(cut_off: str) -> None:
    with pytest.raises(Failed, match=r"package lists could not be read: .*Failed to fetch"):
        updates_of(cut_off)
