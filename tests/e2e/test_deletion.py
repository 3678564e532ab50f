"""Deletes shows that are on air, with kubectl and without the HTTP interface."""

from __future__ import annotations

import subprocess
from functools import partial

import pytest
from tests.support.cluster import LocalCluster
from tests.support.receiver import ReceiverClient
from tests.support.shows import LiveShow


@pytest.mark.parametrize("cascade", ["foreground", "background"])
def test_a_deleted_live_project_ends_its_streams_and_goes_with_all_that_it_owns(
    on_air: LiveShow, cluster: LocalCluster, receiver: ReceiverClient, path: str, cascade: str
) -> None:
    show, pod = on_air.project, cluster.encoder_pod(on_air.project)
    (destination,) = [
        each["metadata"]["name"] for each in cluster.list("destination") if each["spec"]["projectId"] == show
    ]
    cluster.shows("delete", "project", show, f"--cascade={cascade}", "--timeout=60s")
    # The server may be busy when the stream ends; an encoder that nobody told of its end goes on for 3 s
    cluster.until("the project is gone once its streams have ended", lambda: not receiver.ready(path), 1)

    def is_gone(kind: str, name: str) -> bool:
        try:
            cluster.kubectl("-n", "shows", "get", kind, name, stderr=subprocess.STDOUT)
        except subprocess.CalledProcessError as error:
            return "NotFound" in error.output
        return False

    for kind, name in (("project", show), ("destination", destination), ("pod", pod)):
        cluster.until(f"the {kind} is gone", partial(is_gone, kind, name), 30)
    reasons = [e["reason"] for e in cluster.list("event") if e["involvedObject"]["name"] == show]
    assert "EncoderLost" not in reasons
    assert {"Stopping", "Stopped"} <= set(reasons)
