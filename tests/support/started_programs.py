"""Finds the programs that code starts: by parsing its source, and by recording them at run time."""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

RUNNERS = {
    *("Popen", "call", "check_call", "check_output", "create_subprocess_exec", "execvp", "run", "run_logged"),
    *("output_of", "succeeds", "which", "find", "program", "server_program", "Program"),
}
NAME = re.compile(r"[a-z][a-z0-9_.+-]*")


def in_source(source: str) -> set[str]:
    """Returns the names of programs in calls that start or look up a program.

    A command is a list or tuple whose first item is a name, in the call itself or in a variable of the file.
    """
    tree = ast.parse(source)
    lists = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.List | ast.Tuple)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    return {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _called(node) in RUNNERS
        for argument in node.args
        for name in _heads(argument, lists)
        if NAME.fullmatch(name)
    }


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _heads(node: ast.expr, lists: dict[str, ast.List | ast.Tuple], depth: int = 0) -> Iterator[str]:
    if depth > 8:
        return
    match node:
        case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value
            else:
                yield from _heads(first, lists, depth + 1)
        case ast.Starred(value=value):
            yield from _heads(value, lists, depth + 1)
        case ast.Name(id=name) if name in lists:
            yield from _heads(lists[name], lists, depth + 1)


class StartedPrograms:
    """Records each program that this process starts, except those that tests write themselves."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        sys.addaudithook(self._record)

    def _record(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "subprocess.Popen":
            program = Path(str(arguments[0]))
            if not program.is_relative_to(tempfile.gettempdir()):
                self.names.add(program.name)
