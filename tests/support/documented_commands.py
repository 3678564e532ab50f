"""The commands of our pages, as a newcomer would paste them into a shell."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
README, GUIDE, SCENE_GUIDE = (
    Path(name) for name in ("README.md", "docs/guide/first-show.md", "docs/guide/scene.md")
)
TESTED = (README, GUIDE, SCENE_GUIDE)
"""Pages of which tests run every command."""
PAGES = [Path(name) for name in ("README.md", "CONTRIBUTING.md", "charts/onair/README.md")]
PAGES += [file.relative_to(ROOT) for file in sorted(ROOT.glob("docs/**/*.md"))]
_SHELL = re.compile(r"(make|kubectl|helm|curl|onair|eval|until)\b|[A-Z]+=|\w+\(\) \{")
_COMMENT = re.compile(r"(?m)  +# .*$")
_QUOTES = re.compile(r"""'[^']*'|"[^"]*"|\\.""")
_HEREDOC = re.compile(r"<<'(\w+)'")


def blocks(page: Path) -> list[str]:
    """The blocks of shell commands of a page, in order."""
    found = [block.strip("\n") for block in _indented((ROOT / page).read_text())]
    return [block for block in found if _SHELL.match(block)]


def _indented(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), "end"]:
        if line.startswith("    ") or (lines and not line):
            lines.append(line[4:])
        elif lines:
            yield "\n".join(lines)
            lines = []


def commands(block: str) -> list[str]:
    """The commands of a block: lines that belong together by quotes, continuations and here-documents."""
    found: list[str] = []
    lines: list[str] = []
    for line in block.splitlines():
        lines.append(line)
        whole = "\n".join(lines)
        heredoc = _HEREDOC.search(whole)
        if heredoc and line != heredoc[1]:
            continue
        open_quote = not heredoc and re.search(r"""['"]""", _QUOTES.sub("", _COMMENT.sub("", whole)))
        if open_quote or line.endswith("\\"):
            continue
        if whole.strip():
            found.append(whole)
        lines = []
    assert not lines, f"a command that does not end: {lines}"
    return found


def script(page: Path, skipped: Callable[[str], bool] = lambda _: False) -> str:
    """All commands of a page but those that are skipped, each printed before it runs."""
    lines = ["set -euo pipefail"]
    for block in blocks(page):
        for command in commands(block):
            if not skipped(command):
                lines += [f"printf '$ %s\\n' {_quoted(command.splitlines()[0])} >&2", command]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def run(text: str, folder: Path, variables: Mapping[str, str], timeout_s: float = 60) -> str:
    """Runs a script in a folder with the repository's `examples` and `charts`; gives what it printed.

    Raises:
        AssertionError: a command failed; the message has all that was printed.
    """
    for name in ("examples", "charts", "Makefile"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
