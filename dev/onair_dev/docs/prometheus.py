"""A temporary Prometheus, backfilled with scrapes that were saved as files."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import math
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from prometheus_client.core import Metric
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector, CollectorRegistry

from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import LOGS
from onair_dev.subprocesses import last_line

START_S = 20.0
RESPONSE_TIMEOUT_S = 10.0
RETENTION = "100y"
"""Scrapes may be older than Prometheus' default retention."""


@dataclass(frozen=True)
class Series:
    """A series of a query's result, with a value for each step that has one."""

    labels: Mapping[str, str]
    values: Mapping[float, float]


@dataclass(frozen=True, eq=False)
class Scrapes(Collector):
    """Saved scrapes, `<unix ms>.txt` each, with the labels that service discovery would add."""

    files: list[Path]
    labels: Mapping[str, str]

    @classmethod
    def of(cls, folder: Path, labels: Mapping[str, str]) -> Scrapes:
        return cls(sorted(folder.glob("*.txt"), key=at_s), labels)

    @property
    def began_s(self) -> float:
        return at_s(self.files[0])

    @property
    def ended_s(self) -> float:
        return at_s(self.files[-1])

    @property
    def interval_s(self) -> int:
        """The median interval of the scrapes, seconds."""
        times = [at_s(file) for file in self.files]
        return round(statistics.median(late - early for early, late in itertools.pairwise(times)))

    def collect(self) -> Iterator[Metric]:
        """Yields each metric with the samples of all scrapes."""
        metrics: dict[str, Metric] = {}
        for file in self.files:
            for family in text_string_to_metric_families(file.read_text()):
                metric = metrics.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                for sample in family.samples:
                    labels = {**self.labels, **sample.labels}
                    metric.add_sample(sample.name, labels, sample.value, at_s(file))
        yield from metrics.values()

    def openmetrics(self) -> bytes:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        generate = cast("Callable[[CollectorRegistry], bytes]", generate_latest)
        return generate(registry)


def at_s(file: Path) -> float:
    """The time that a file of samples is of, by its name; Unix seconds."""
    return int(file.stem) / 1000


class Prometheus:
    """Client of a running Prometheus' HTTP API."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self._base}/-/ready", timeout=RESPONSE_TIMEOUT_S) as response:
                return bool(response.status == 200)
        except (OSError, http.client.HTTPException):
            return False

    def get(self, path: str, **parameters: object) -> Any:
        """Returns the data of a response.

        Raises:
            Failed: Prometheus rejected the query; the message is its reason.
        """
        url = f"{self._base}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=RESPONSE_TIMEOUT_S) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            raise Failed(f"Prometheus: {json.load(error)['error']}: {parameters}") from error

    def label_values(self, label: str, selector: str, began_s: float, ended_s: float) -> list[str]:
        path = f"label/{label}/values"
        return list(self.get(path, **{"match[]": selector, "start": began_s, "end": ended_s}))

    def query_range(self, query: str, began_s: float, ended_s: float, step_s: float) -> list[Series]:
        """Returns the series of a range query, without NaN values and without series of only those."""
        data = self.get("query_range", query=query, start=began_s, end=ended_s, step=step_s)
        found = []
        for each in data["result"]:
            values = {float(at): float(value) for at, value in each["values"]}
            if numbers := {at: value for at, value in values.items() if not math.isnan(value)}:
                found.append(Series(each["metric"], numbers))
        return found


def programs() -> dict[str, str]:
    """Returns the paths of prometheus and promtool."""
    paths = {name: shutil.which(name) for name in ("prometheus", "promtool")}
    for name, path in paths.items():
        if path is None:
            raise Failed(f"{name} not found", "apt-get install --no-install-recommends prometheus")
    return {name: str(path) for name, path in paths.items()}


def free_port() -> int:
    """A TCP port of the loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def prometheus_of(current: Step, scrapes: Scrapes) -> Iterator[Prometheus]:
    """Runs a backfilled Prometheus on a free port of the loopback address.

    Raises:
        Failed: it is not installed, rejected the scrapes, or did not start.
    """
    paths = programs()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples, blocks, config = folder / "samples.om", folder / "blocks", folder / "prometheus.yml"
        samples.write_bytes(scrapes.openmetrics())
        config.touch()
        backfill: list[str | Path] = [
            paths["promtool"],
            "tsdb",
            "create-blocks-from",
            "openmetrics",
            samples,
            blocks,
        ]
        current.run("backfilling Prometheus", "promtool", backfill)
        port, log = free_port(), LOGS / "prometheus.log"
        command = [paths["prometheus"], f"--config.file={config}", f"--storage.tsdb.path={blocks}"]
        command += [f"--storage.tsdb.retention.time={RETENTION}", f"--web.listen-address=127.0.0.1:{port}"]
        with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            try:
                yield wait_ready(Prometheus(port), process, log)
            finally:
                process.terminate()


def wait_ready(prometheus: Prometheus, process: subprocess.Popen[bytes], log: Path) -> Prometheus:
    """Waits until Prometheus responds.

    Raises:
        Failed: it ended, or took too long.
    """
    deadline = time.monotonic() + START_S
    while not prometheus.is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise Failed(f"Prometheus does not start: {last_line(log)}", log=log)
        time.sleep(0.05)
    return prometheus
