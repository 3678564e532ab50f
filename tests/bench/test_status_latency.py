"""Measures from a destination's connection, by the encoder's clock, to its status in a watch."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import time
from collections.abc import Callable, Iterator

from tests.support.cluster import SHOWS, LocalCluster, address
from tests.support.receiver import ReceiverClient
from tests.support.shows import LiveShow

from onair_crds.shapes import Document

ROUNDS = 5


def test_time_until_the_status_reports_a_connection(
    make_show: Callable[..., LiveShow],
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
    report: Callable[..., float],
) -> None:
    show = make_show()
    show.add_destination(**address(path))
    show.start()
    receiver.wait_ready(path, 60)
    show.wait_phase("RUNNING")
    delays = []
    for number in range(ROUNDS):
        command = [str(cluster.kubectl_path), f"--kubeconfig={cluster.kubeconfig_path}", "-n", SHOWS]
        watch = subprocess.Popen(
            [*command, "get", "destinations", "--watch", "-o", "json"], stdout=subprocess.PIPE, text=True
        )
        documents = _documents(watch)
        next(documents)  # kubectl watches from the list of destinations that it prints first
        destination = show.add_destination(**address(f"{path}-{number}"))
        delays.append(_reported_after_s(documents, destination))
        watch.kill()
    median = report("destination connected → status reported", delays, "s", 0.5)
    assert median < 1.0


def _documents(watch: subprocess.Popen[str]) -> Iterator[Document]:
    assert watch.stdout
    decoder, buffer = json.JSONDecoder(), ""
    for line in watch.stdout:
        buffer += line
        try:
            document, end = decoder.raw_decode(buffer.lstrip())
        except ValueError:
            continue
        buffer = buffer.lstrip()[end:]
        yield document


def _reported_after_s(documents: Iterator[Document], destination: str) -> float:
    """Returns the seconds from `since`, which the encoder sets, to the event of the watch."""
    for document in documents:
        status = document.get("status", {})
        if document["metadata"]["name"] == destination and status.get("connect") == "Connected":
            return time.time() - dt.datetime.fromisoformat(status["since"]).timestamp()
    raise AssertionError("the watch ended")
