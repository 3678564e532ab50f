"""Every command of README and guides in the local cluster, in the order of the pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.cluster import LocalCluster
from tests.support.documented_commands import GUIDE, TESTED, run, script


def is_not_for_this_cluster(command: str) -> bool:
    """What prepares the shell, which the test's is, and what installs or tests OnAir as a whole."""
    return command.startswith(("make", "eval", "helm install"))


@pytest.mark.parametrize("page", TESTED, ids=str)
def test_every_command_of_a_page_succeeds(page: Path, cluster: LocalCluster, tmp_path: Path) -> None:
    try:
        run(script(page, is_not_for_this_cluster), tmp_path, {}, timeout_s=300)
        if page == GUIDE:
            assert (tmp_path / "now.jpg").read_bytes().startswith(b"\xff\xd8")
    finally:
        cluster.delete_collection("sunday-service")
