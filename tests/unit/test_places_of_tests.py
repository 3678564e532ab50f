"""A test is found by the name of what it tests: in the same folder, below tests/ instead of its program's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {
    "api": ROOT / "api/onair_api",
    "crds": ROOT / "crds/onair_crds",
    "dev": ROOT / "dev/onair_dev",
    "encoder": ROOT / "images/encoder/onair_encoder",
    "ingest": ROOT / "images/ingest/onair_ingest",
    "operator": ROOT / "operator/onair_operator",
    "support": ROOT / "tests/support",
}
OTHERS = ("chart", "supply_chain", "web")
"""Folders of tests of what is not Python."""
WHOLE = "encoder/pod"
"""Whole pods: tests are named by what a viewer sees, or somebody who steers them."""
HLS = "unit/encoder/publish/hls"
ACROSS_FILES = {
    "unit/api/test_decisions.py": "a table of tests of all that the interface leaves open",
    "unit/dev/cluster/test_routes.py": "images/kind-node/routes, a script",
    "unit/encoder/publish/test_inside.py": "every kind of destination",
    f"{HLS}/test_foreign_playlists.py": "all that reads a bucket",
    f"{HLS}/test_given_up.py": "output and spool at their end",
    f"{HLS}/test_longest_duration.py": "output, recording and deletions",
    f"{HLS}/test_outages.py": "output and spool while a storage is unavailable",
    f"{HLS}/test_refused_segments.py": "output and spool while a storage refuses",
    f"{HLS}/test_takeover.py": "two outputs of one place",
    "unit/support/test_modules.py": "all modules that tests import",
}
"""Unit tests of no one file, with what they are of."""
OF_THIS_FOLDER = {
    "integration/api/http/rooms/test_revocation.py": "of rooms' tokens; auth/revocation.py is of others",
    "integration/api/http/test_errors.py": "of errors as HTTP shows them; errors.py is of all doors",
}
"""Named as a file of another folder, and yet of their own."""


def files_below(kind: str) -> Iterator[tuple[Path, str, Path]]:
    """Each file of tests of a kind: what it tests by its name, and the folder that it mirrors."""
    for path in sorted((ROOT / "tests" / kind).rglob("test_*.py")):
        program, *folders = path.relative_to(ROOT / "tests" / kind).parts[:-1] or ("",)
        if program in SOURCES:
            yield path, path.stem.removeprefix("test_"), SOURCES[program].joinpath(*folders)
        else:
            assert program in ("", *OTHERS), path


@cache
def subjects_in(folder: Path) -> frozenset[str]:
    """Names of the files and folders within."""
    found = {each.stem for each in folder.iterdir() if each.suffix == ".py" or each.is_dir()}
    return frozenset({*found, "main"} if "__main__" in found else found)


def is_of(name: str, subjects: frozenset[str]) -> bool:
    """Whether a test is named by one of these, or by one of these and what of it is tested."""
    return any(name == each or name.startswith(f"{each}_") for each in subjects)


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT / "tests"))


def test_a_unit_test_is_named_by_a_file_of_the_folder_that_it_mirrors() -> None:
    tests = [*files_below("unit")]
    strangers = {shown(path) for path, name, folder in tests if not is_of(name, subjects_in(folder))}
    assert len(tests) > 300
    assert strangers == ACROSS_FILES.keys()


def test_an_integration_test_stands_where_its_program_has_a_folder() -> None:
    """There it is named by a file, or by what several of them do together with real programs."""
    tests = [path for path, _, folder in files_below("integration") if not folder.is_dir()]
    assert [shown(path) for path in tests if f"integration/{WHOLE}/" not in shown(path)] == []


def test_an_integration_test_with_the_name_of_a_file_stands_where_that_stands() -> None:
    files = {
        program: {path.stem for path in folder.rglob("*.py") if not path.stem.startswith("__")}
        for program, folder in SOURCES.items()
    }
    misplaced = {
        shown(path)
        for path, name, folder in files_below("integration")
        if f"integration/{WHOLE}/" not in shown(path)
        and name in files[path.relative_to(ROOT / "tests/integration").parts[0]]
        and not is_of(name, subjects_in(folder))
    }
    assert misplaced == OF_THIS_FOLDER.keys()
