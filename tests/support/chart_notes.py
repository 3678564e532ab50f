"""The commands that the chart's NOTES.txt gives to who installs it, and those in the files of values."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.documented_commands import commands
from tests.support.helm import CHART, NAMESPACE, RELEASE, helm

_BLOCKS = re.compile(r"(?m)(?:^  \S.*\n(?:^    .*\n)*)+")


def notes(kubeconfig: Path, *options: str | Path) -> str:
    """The notes of an installation with these options."""
    dry = ("upgrade", "--install", RELEASE, CHART, "--namespace", NAMESPACE, "--dry-run=client")
    return helm(*dry, "--reset-values", *options, kubeconfig=kubeconfig).rpartition("\nNOTES:\n")[2]


def commands_of_notes(kubeconfig: Path, *options: str | Path) -> list[str]:
    """The shell commands in the notes of an installation with these options, in order."""
    said = notes(kubeconfig, *options)
    blocks = (re.sub(r"(?m)^  ", "", block) for block in _BLOCKS.findall(said + "\n"))
    return [command for block in blocks for command in commands(block.rstrip())]


def commands_of_values(file: Path) -> list[str]:
    """The shell commands in the comments of a file of values."""
    return re.findall(r"(?m)^#   ((?:helm|kubectl) .*)$", file.read_text())
