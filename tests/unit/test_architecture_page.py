"""The walks of docs/architecture.md go through files that call one another, with none left out between."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text()
WALKS = PAGE.partition("## Two walks")[2].partition("## A reconcile")[0].split("**A layer's update")
API, OPERATOR, ENCODER = (
    ROOT / root for root in ("api/onair_api", "operator/onair_operator", "images/encoder/onair_encoder")
)
ROOTS = [ROOT / root for root in ("api", "operator", "crds", "images/encoder")]
WIRED_BY = {
    API / "live/destination/service.py": API / "live/destination/operations.py",
    API / "layout/layer/service.py": API / "layout/layer/operations.py",
    ROOT / "crds/onair_crds/kube/client.py": API / "cache/cluster.py",
    API / "event/changes/announcer.py": API / "event/service.py",
    API / "event/stream/event_delivery.py": API / "event/service.py",
    API / "event/stream/websocket_connection.py": API / "event/stream/websocket.py",
    OPERATOR / "reconcile.py": OPERATOR / "runtime.py",
    OPERATOR / "project/observe.py": OPERATOR / "reconcilers.py",
    OPERATOR / "project/plan.py": OPERATOR / "reconcilers.py",
    OPERATOR / "encoder/connection.py": OPERATOR / "encoder/client.py",
    ENCODER / "publish/rtmp/output.py": ENCODER / "publish/destination_kinds.py",
}
"""Files that are called through an object which another file has made or registered."""
NOT_COUNTED = set(
    re.findall(r"`([^`]+\.py)`", PAGE.partition("Not counted:")[2].partition("A test follows")[0])
)
VALUE = {
    "http/endpoint.py": "raw message",
    "live/destination/service.py": "message spec",
    "live/destination/secret_versions.py": "request spec part address",
    "wire/decode.py": "body value",
    "writes/writer.py": "spec wanted document operations",
    "kube/client.py": "body",
    "cluster/watch.py": "document",
    "onair_operator/reconcile.py": "observed plan",
    "project/observe.py": "each destinations",
    "project/program.py": "program found",
    "destination/program_destinations.py": "destination program",
    "cluster/apply.py": "program",
    "agent/control_api.py": "program",
    "agent/agent.py": "program destinations",
    "publish/delivery.py": "destination",
    "publish/destination_publisher.py": "wanted",
    "publish/rtmp/output.py": "url address",
    "layout/layer/service.py": "message request",
    "layout/layer/request.py": "body values",
    "layout/layer/write_queue.py": "request operations layers",
    "layout/layer/tree.py": "values operation",
    "event/changes/announcer.py": "change after entry",
    "event/changes/layout_announcements.py": "after given",
    "layout/layer/record.py": "layer record spec",
    "event/changes/announcement.py": "payload body",
    "event/stream/event_delivery.py": "event",
    "event/event.py": "body",
}
"""What the value, or what has it, is called in a file from which it goes on."""
UNNAMED = {
    "project/plan.py": "each part of the plan is handed all that is observed",
    "encoder/connection.py": "it goes to the encoder",
    "contract/push_addresses.py": "the end",
    "writes/json_patch.py": "it returns the patch",
    "kube/reflector.py": "it goes into the store",
    "contract/layers.py": "it returns the layers",
    "wire/encode.py": "it returns the message",
    "stream/websocket_connection.py": "the end",
}
"""Files of a walk that hand the value to none of ours by a name of its own, and why."""
ELSEWHERE = {
    "auth/callers.py": "the request's metadata",
    "encode/ffmpeg_command.py": "the programme's other parts",
    "publish/rtmp/connection.py": "the socket is open by then",
    "wire/list_page.py": "another operation",
    "changes/live_announcements.py": "other kinds",
    "live/project/record.py": "other kinds",
    "layout/record.py": "the layout's own fields",
    "event/stream/session.py": "what a session had before it reconnected",
}
"""Files that are handed what has the value, and use something else of it, or come after the end."""
HELPERS = re.compile(r".*\.(runtime\..+|session_error|errors|metrics|occurrences|working_copy|record_size)$")
"""Modules that only run, count, copy or report what they are given."""
MOST = 20
"""Files of a walk."""
Column = list[tuple[int, Path]]


def columns_of(walk: str) -> list[Column]:
    """The numbered files of each column of the walk's table."""
    header, _, *rows = [line for line in walk.splitlines() if line.startswith("|")]
    roots = [ROOT / root for root in re.findall(r"`([^`]+)`", header)]
    columns: list[Column] = [[] for _ in roots]
    for row in rows:
        for root, column, cell in zip(roots, columns, row.strip("|").split("|"), strict=True):
            if found := re.match(r" (\d+) `([^`]+)`", cell):
                name = found[2].replace("crds/…", "crds/onair_crds")
                column.append((int(found[1]), ROOT / name if "…" in found[2] else root / name))
    return columns


def module_of(path: Path) -> str:
    """Its dotted name; folders of programs are no packages."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[next(i for i, part in enumerate(parts) if part.startswith("onair_")) :])


def calls(path: Path, module: str) -> bool:
    """Whether the file calls what it imports from the module, or a method of a parameter of such a type."""
    tree = ast.parse(path.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = [alias for node in imports if node.module == module for alias in node.names]
    imported = {alias.asname or alias.name for alias in names}
    return not imported.isdisjoint(_called(tree))


def _called(tree: ast.AST) -> Iterator[str]:
    """Names of functions and classes that are called, handed over to be called, or extended."""
    types = {
        each.arg: ast.unparse(each.annotation)
        for each in ast.walk(tree)
        if isinstance(each, ast.arg) and each.annotation
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(base) for base in node.bases)
        elif isinstance(node, ast.Call):
            called, _, method = ast.unparse(node.func).rpartition(".")
            yield called or method
            yield from (each.id for each in node.args if isinstance(each, ast.Name) and each.id.islower())
            yield types.get(called.removeprefix("self.").removeprefix("_"), "")


def handed_to(path: Path, value: set[str]) -> set[str]:
    """Modules of ours that the file calls with an argument of such a name."""
    tree = ast.parse(path.read_text())
    modules = dict(_imported(tree))
    types = {
        each.arg: ast.unparse(each.annotation)
        for each in ast.walk(tree)
        if isinstance(each, ast.arg) and each.annotation
    }
    found = set()
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and value & set(_arguments(call)):
            owner, _, function = ast.unparse(call.func).rpartition(".")
            name = owner.removeprefix("self.").removeprefix("_").partition(".")[0] or function
            found.add(modules.get(name) or modules.get(types.get(name, "")))
    return {each for each in found if each}


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that are imported from packages of ours, each with its module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onair_"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = any(file_of(inner, root).is_file() for root in ROOTS)
                yield alias.asname or alias.name, inner if is_module else str(node.module)


def file_of(module: str, root: Path) -> Path:
    return root / (module.replace(".", "/") + ".py")


def _arguments(call: ast.Call) -> Iterator[str]:
    """The last names of arguments that are names: `program` of `self.program`."""
    for each in [*call.args, *(keyword.value for keyword in call.keywords)]:
        given = each.value if isinstance(each, ast.Starred) else each
        if isinstance(given, ast.Name | ast.Attribute):
            yield ast.unparse(given).rpartition(".")[2]


@pytest.mark.parametrize("walk", WALKS)
def test_whoever_is_handed_the_value_is_in_the_walk_or_named(walk: str) -> None:
    files = [path for column in columns_of(walk) for _, path in column]
    known = {module_of(path) for path in files}
    known |= {module_of(WIRED_BY[path]) for path in files if path in WIRED_BY}
    text = "\n".join(line for line in walk.splitlines() if not line.startswith("|"))
    said = NOT_COUNTED | ELSEWHERE.keys() | set(re.findall(r"`([^`]+\.py)`", text))
    others = tuple("/" + each.removesuffix(".py") for each in said)
    for path in files:
        names = {n for file, value in VALUE.items() if str(path).endswith(f"/{file}") for n in value.split()}
        for module in handed_to(path, names) - known:
            named = module.replace(".", "/").endswith(others) or HELPERS.match(module)
            assert named, f"{path} hands the value to {module}, which is not on the page"


@pytest.mark.parametrize("walk", WALKS)
def test_it_is_known_what_each_file_of_a_walk_calls_the_value(walk: str) -> None:
    for path in (path for column in columns_of(walk) for _, path in column):
        names = {n for file, value in VALUE.items() if str(path).endswith(f"/{file}") for n in value.split()}
        tree = ast.parse(path.read_text())
        arguments = {
            each for call in ast.walk(tree) if isinstance(call, ast.Call) for each in _arguments(call)
        }
        assert names <= arguments, f"{path} hands on nothing that is called {names - arguments}"
        assert names or str(path).endswith(tuple(f"/{file}" for file in UNNAMED)), path


def test_files_that_are_not_counted_exist() -> None:
    for name in NOT_COUNTED | ELSEWHERE.keys():
        assert any(found for root in ROOTS for found in root.glob(f"onair_*/**/{name}")), name
    for name in VALUE:
        assert any(
            str(path).endswith(f"/{name}") for walk in WALKS for c in columns_of(walk) for _, path in c
        ), name


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_leaves_no_file_out_and_stays_short(walk: str) -> None:
    columns = columns_of(walk)
    entries = [entry for column in columns for entry in column]
    assert [number for number, _ in entries] == list(range(1, len(entries) + 1))
    assert len(entries) <= MOST
    assert len({path for _, path in entries}) == len(entries), "a file is entered again"
    for column in columns:
        under_way: list[Path] = []
        for _, path in column:
            assert path.is_file(), path
            if path in WIRED_BY:
                wired_by, module = WIRED_BY[path].read_text(), module_of(path)
                assert f"from {module} import" in wired_by, f"{WIRED_BY[path]} does not name {module}"
            else:
                before = list(under_way)
                while under_way and not calls(under_way[-1], module_of(path)):
                    under_way.pop()
                assert under_way or not before, f"none of {[str(each) for each in before]} calls {path}"
            under_way.append(path)
