"""Runs Helm as a user does, and parses the rendered objects."""

import functools
import os
import pickle
import re
import shutil
import subprocess
from pathlib import Path

import yaml
from tests.support.child_process import QUICK_GO
from tests.support.control_plane import ControlPlane
from tests.support.programs import program

from onair_crds.shapes import Document

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts/onair"
RELEASE = "onair"
KEYS = "onair-keys"
NAMESPACE = "onair-system"
SHOWS = "shows"
KUBE_VERSION = "1.34.4"
TIMEOUT_S = 60


class HelmError(RuntimeError):
    """Helm failed; the message is its error output."""


def helm(*arguments: str | Path, kubeconfig: Path | None = None) -> str:
    """Runs helm and returns its output.

    Raises:
        HelmError: helm failed.
    """
    environment = {**os.environ, **QUICK_GO, "KUBECONFIG": str(kubeconfig or "/dev/null")}
    command = [str(program("helm")), *map(str, arguments)]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if result.returncode:
        raise HelmError(result.stderr.strip())
    return result.stdout


@functools.cache
def template(namespace: str, options: tuple[str | Path, ...]) -> str:
    target = ("--namespace", namespace, "--kube-version", KUBE_VERSION)
    return helm("template", RELEASE, CHART, *target, *options)


def render(*options: str | Path, namespace: str = NAMESPACE) -> list[Document]:
    """Renders the chart with these options: its objects in the order in which Helm would create them."""
    texts = re.split(r"^---$", template(namespace, options), flags=re.MULTILINE)
    parsed = (pickle.loads(_parsed(text)) for text in texts)  # noqa: S301  # what was parsed here
    return [document for document in parsed if document]


@functools.cache
def _parsed(text: str) -> bytes:
    """Parses a document once: most, and the largest, are the same with all options.

    Returns:
        It pickled, so that each test has an own to change.
    """
    return pickle.dumps(yaml.load(text, yaml.CSafeLoader))


def install(plane: ControlPlane, chart: Path = CHART, *options: str | Path) -> str:
    target = ["--namespace", NAMESPACE, "--create-namespace"]
    return helm("upgrade", "--install", RELEASE, chart, *target, *options, kubeconfig=plane.kubeconfig)


def kubectl(plane: ControlPlane, *arguments: str | Path, stdin: str = "") -> str:
    command = [str(program("kubectl")), "--kubeconfig", str(plane.kubeconfig), *map(str, arguments)]
    result = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    return (result.stdout + result.stderr).strip()


def named(objects: list[Document], kind: str, name: str) -> Document:
    """Returns the only object of this kind and name."""
    (found,) = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    return found


def copy_of_chart(folder: Path) -> Path:
    """Copies the chart, for a test to modify."""
    return Path(shutil.copytree(CHART, folder / "onair"))


class BlockDumper(yaml.SafeDumper):
    """Writes multi-line strings as block scalars."""


def represent_string(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


BlockDumper.add_representer(str, represent_string)


def to_stable_text(objects: list[Document]) -> str:
    """Serializes objects without random keys, checksums and pages, which would change golden files."""
    for each in objects:
        if each["kind"] == "ConfigMap" and each["metadata"]["name"] == "onair-demo":
            each["data"] = {name: "<page>" for name, content in each["data"].items() if content}
    text = "---\n".join(yaml.dump(each, Dumper=BlockDumper, sort_keys=False, width=110) for each in objects)
    text = re.sub(r"(checksum/\w+): \S+", r"\1: <checksum>", text)
    return re.sub(r"(apiKey|hash): \S+", r"\1: <generated>", text)
