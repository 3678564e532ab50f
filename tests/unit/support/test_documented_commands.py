"""How commands are found in pages, and that pages name what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.documented_commands import GUIDE, PAGES, ROOT, TESTED, blocks, commands, run, script

TARGETS = set(re.findall(r"^([a-z][a-z0-9-]*)(?: [a-z-]+)*:", (ROOT / "Makefile").read_text(), re.MULTILINE))
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


def test_lines_that_belong_together_are_one_command() -> None:
    assert commands("A=$(curl x \\\n  -d '{}')\nmake demo") == ["A=$(curl x \\\n  -d '{}')", "make demo"]
    assert commands("curl -d '{\n  \"a\": 1\n}' | cat\nls") == ["curl -d '{\n  \"a\": 1\n}' | cat", "ls"]
    assert commands("kubectl apply -f - <<'YAML'\nit's: 1\nYAML\nls") == [
        "kubectl apply -f - <<'YAML'\nit's: 1\nYAML",
        "ls",
    ]


def test_a_page_stops_at_the_first_command_that_fails(tmp_path: Path) -> None:
    assert run("printf one", tmp_path, {}) == "one"
    with pytest.raises(AssertionError, match="before"):
        run("set -euo pipefail\necho before\nfalse | cat\necho after", tmp_path, {})


def test_the_guide_is_read_whole() -> None:
    first, *_, last = (command for block in blocks(GUIDE) for command in commands(block))
    assert first == 'eval "$(make env)"'
    assert last.startswith("onair DELETE")
    assert "kubectl delete -f examples/ --ignore-not-found" in script(GUIDE)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_make_target_and_every_linked_file_exists(page: Path) -> None:
    text = (ROOT / page).read_text()
    inline = re.findall(r"`make ([a-z][a-z0-9-]*)", text)
    listed = [
        target
        for block in blocks(page)
        for command in commands(block)
        if command.startswith("make ")
        for target in re.findall(r"(?<= )[a-z][a-z0-9-]+", command.partition("#")[0].partition("ARGS")[0])
    ]
    assert {*inline, *listed} <= TARGETS
    missing = [link for link in LINK.findall(text) if not ((ROOT / page).parent / link).exists()]
    assert not missing


def test_other_pages_have_no_commands_but_those_of_readme_and_guides_and_of_make() -> None:
    """Which tests run; whether a target of make exists is tested above."""
    known = {command for page in TESTED for block in blocks(page) for command in commands(block)}
    others = {
        command
        for page in PAGES
        for block in blocks(page)
        for command in commands(block)
        if not command.startswith("make ")
    }
    assert others <= known
