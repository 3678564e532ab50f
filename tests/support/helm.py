"""Helm as a user runs it, and what it renders as plain objects."""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml
from tests.support.control_plane import ControlPlane
from tests.support.programs import program

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts/onair"
RELEASE = "onair"
NAMESPACE = "onair-system"
SHOWS = "shows"
KUBE_VERSION = "1.34.4"
TIMEOUT_S = 60

Object = dict[str, Any]


class HelmError(RuntimeError):
    """Helm refused; the message is what it said."""


def helm(*arguments: str | Path, kubeconfig: Path | None = None) -> str:
    """What helm prints.

    Raises:
        HelmError: it failed.
    """
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig or "/dev/null")}
    command = [str(program("helm")), *map(str, arguments)]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if result.returncode:
        raise HelmError(result.stderr.strip())
    return result.stdout


@functools.cache
def template(namespace: str, options: tuple[str | Path, ...]) -> str:
    where = ("--namespace", namespace, "--kube-version", KUBE_VERSION)
    return helm("template", RELEASE, CHART, *where, *options)


def render(*options: str | Path, namespace: str = NAMESPACE) -> list[Object]:
    """The objects of the chart with these options, in the order in which Helm would create them."""
    return [document for document in yaml.safe_load_all(template(namespace, options)) if document]


def install(plane: ControlPlane, chart: Path = CHART, *options: str | Path) -> str:
    where = ["--namespace", NAMESPACE, "--create-namespace"]
    return helm("upgrade", "--install", RELEASE, chart, *where, *options, kubeconfig=plane.kubeconfig)


def kubectl(plane: ControlPlane, *arguments: str | Path, stdin: str = "") -> str:
    command = [str(program("kubectl")), "--kubeconfig", str(plane.kubeconfig), *map(str, arguments)]
    result = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    return (result.stdout + result.stderr).strip()


def named(objects: list[Object], kind: str, name: str) -> Object:
    """The one object of this kind and name."""
    (found,) = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    return found


def copy_of_chart(folder: Path) -> Path:
    """A chart to change in a test."""
    return Path(shutil.copytree(CHART, folder / "onair"))


class Readable(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def as_block(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Readable.add_representer(str, as_block)


def steady(objects: list[Object]) -> str:
    """The objects as text, without what changes by chance or belongs to other tests: keys, sums and pages."""
    for each in objects:
        if each["kind"] == "ConfigMap" and each["metadata"]["name"] == "onair-demo":
            each["data"] = {name: "<page>" for name, content in each["data"].items() if content}
    text = "---\n".join(yaml.dump(each, Dumper=Readable, sort_keys=False, width=110) for each in objects)
    text = re.sub(r"(checksum/\w+): \S+", r"\1: <checksum>", text)
    return re.sub(r"(apiKey|hash): \S+", r"\1: <generated>", text)
