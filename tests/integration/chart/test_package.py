"""What the chart's package holds besides its templates."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.support.helm import CHART, helm

PUBLISHED = "files/proto"


def files_of(folder: str) -> dict[str, bytes]:
    """The content of each file below a folder, by its path in the chart."""
    found = (CHART / folder).rglob("*")
    return {str(each.relative_to(CHART)): each.read_bytes() for each in found if each.is_file()}


def packed(package: Path, folder: str) -> dict[str, bytes]:
    """The content of each file that a chart's package has below a folder, by its path in the chart."""
    found = {}
    with tarfile.open(package) as archive:
        for member in archive:
            path = member.name.removeprefix(f"{CHART.name}/")
            if member.isfile() and path.startswith(f"{folder}/"):
                content = archive.extractfile(member)
                assert content
                found[path] = content.read()
    return found


def test_a_package_has_the_messages_of_rpc_as_they_are(tmp_path: Path) -> None:
    helm("package", CHART, "--destination", tmp_path)
    (package,) = tmp_path.iterdir()
    proto = files_of(PUBLISHED)
    assert {Path(each).suffix for each in proto} == {".proto", ".yaml"}
    assert packed(package, PUBLISHED) == proto
