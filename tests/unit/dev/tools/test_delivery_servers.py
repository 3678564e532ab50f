"""What servers of tests are built from."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[4]
REQUIRED = re.compile(r"^\t(?:require )?(\S+) (v\S+)", re.MULTILINE)


def test_what_kube_router_shares_with_the_cluster_is_compiled_once() -> None:
    """A package of one other version below it is enough for all of client-go to be compiled again."""
    cluster, plugin = (
        dict(REQUIRED.findall((ROOT / module / "go.mod").read_text()))
        for module in ("images/kind-node/tools", "images/servers/kube-router")
    )
    shared = cluster.keys() & plugin.keys()
    assert "k8s.io/client-go" in shared
    assert {each: plugin[each] for each in shared} == {each: cluster[each] for each in shared}
