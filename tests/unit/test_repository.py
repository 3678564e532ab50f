"""Rules of the repository that a wrong file name would break."""

from __future__ import annotations

import ast
import operator
import re
from collections import defaultdict
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

import onair_api.metrics
import onair_operator.runtime

ROOT = Path(__file__).parents[2]


def test_the_folder_operator_never_shadows_the_standard_library() -> None:
    assert operator.add(1, 2) == 3
    for folder in ("operator", "api", "crds", "images", "images/encoder"):
        assert not (ROOT / folder / "__init__.py").exists()


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.name)
def test_tests_share_by_support_alone(path: Path) -> None:
    """A test that another imports from could not be moved, split or renamed by itself."""
    statements = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    modules = [node.module or "" for node in statements]
    assert [name for name in modules if name.startswith("tests.") and "support" not in name] == []


PACKAGES = {
    "onair_api": "api",
    "onair_crds": "crds",
    "onair_dev": "dev",
    "onair_encoder": "images/encoder",
    "onair_ingest": "images/ingest",
    "onair_operator": "operator",
}
COMPOSITOR = ROOT / "images/web/compositor/src"
EXPORTED_TYPE = re.compile(r"^export (?:abstract )?(?:class|interface|type) (\w+)", re.MULTILINE)


OF_SEVERAL_PROGRAMS = {
    "Animation": "how layers go from one state to another",
    "FacadeUnavailable": "the facade cannot be asked, by encoders and by gateways",
    "GatewaySettings": "what a program is configured with of a gateway",
    "IngestSettings": "what a program is configured with of ingest",
    "Layer": "a visual element of a layout",
    "LayersChange": "a change of one layout's layers, as the agent sends it and a page takes it",
    "Layout": "a canvas with its layers",
    "PageRoom": "what a page joins its project's room with",
    "ProgramRefused": "an encoder's refusal, where it is made and where it arrives",
    "RedisSettings": "what a program is configured with of Redis",
    "RoomSecretSettings": "what a program is configured with of the credentials of rooms",
    "RoomSettings": "what a program is configured with of rooms",
    "Scene": "all that a page draws",
    "Settings": "what a program is configured with",
    "Timeline": "one clock for a stream, whatever its timestamps do",
    "Transition": "how one layout replaces another on the screen",
}
"""Classes that stand in more than one program, and mean the same in each."""


def places_of_classes() -> dict[str, list[tuple[str, str]]]:
    """Packages and files, by the names of the classes in them, and of the types that pages export."""
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for package, parent in PACKAGES.items():
        for path in (ROOT / parent / package).rglob("*.py"):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef):
                    places[node.name].append((package, str(path.relative_to(ROOT))))
    for path in COMPOSITOR.rglob("*.ts"):
        for name in EXPORTED_TYPE.findall(path.read_text()):
            places[name].append((COMPOSITOR.parent.name, str(path.relative_to(ROOT))))
    return places


def test_a_class_has_its_name_alone() -> None:
    """Two of one name mean two things, and a reader takes one for the other."""
    places = places_of_classes()
    packages = {package for found in places.values() for package, _ in found}
    assert packages == {*PACKAGES, COMPOSITOR.parent.name}
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert {name: found for name, found in twice.items() if name not in OF_SEVERAL_PROGRAMS} == {}
    assert OF_SEVERAL_PROGRAMS.keys() - twice.keys() == set(), "these stand once by now"


def test_a_class_has_its_name_alone_within_its_package() -> None:
    for name, found in places_of_classes().items():
        packages = [package for package, _ in found]
        assert len(packages) == len({*packages}), (name, found)


ASIDES = tuple(f"{word} " for word in ("As", "By", "From", "It", "None", "Of", "Without", "To be"))
"""How docstrings begin that leave it to the name what is done."""


@pytest.mark.parametrize("package", PACKAGES)
def test_public_docstrings_say_first_what_a_thing_does(package: str) -> None:
    found = []
    for path in (ROOT / PACKAGES[package] / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                said = ast.get_docstring(node) or ""
                if said.startswith(("Args:", "Raises", "Yields:", *ASIDES)) and not node.name.startswith("_"):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert found == []


@pytest.mark.parametrize("package", PACKAGES)
def test_public_classes_say_what_they_are(package: str) -> None:
    """The only one of a file is what the docstring of the file says; ruff asks for those of functions."""
    found = []
    for path in (ROOT / PACKAGES[package] / package).rglob("*.py"):
        tree = ast.parse(path.read_text())
        public = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name[0] != "_"]
        if len(public) > 1 or not ast.get_docstring(tree):
            found += [
                f"{path.relative_to(ROOT)} {each.name}" for each in public if not ast.get_docstring(each)
            ]
    assert found == []


def test_every_metric_of_operator_and_facade_is_documented() -> None:
    assert onair_api.metrics
    assert onair_operator.runtime
    documented = (ROOT / "docs/reference/metrics.md").read_text()
    ours = [
        metric for metric in REGISTRY.collect() if metric.name.startswith(("onair_operator", "onair_api"))
    ]
    names = {f"{each.name}_total" if each.type == "counter" else each.name for each in ours}
    assert {"onair_operator_reconciles_total", "onair_api_requests_total"} <= names
    assert {name for name in names if f"`{name}`" not in documented} == set()


def _folder(path: Path) -> str:
    return path.parent.name


@pytest.mark.parametrize("dockerfile", sorted((ROOT / "images").glob("*/Dockerfile")), ids=_folder)
def test_images_spare_the_libraries_within_wheels_which_stripping_damages(dockerfile: Path) -> None:
    stripped = [line for line in dockerfile.read_text().splitlines() if "-exec strip" in line]
    assert all("-not -path '*.libs/*'" in line for line in stripped)
