"""Finds Debian packages of an image for which the distribution has a security update.

Debian publishes what it fixes in a suite of its own: a package that would be upgraded from there has a known
vulnerability. Package indexes of Python, npm and Go say nothing of the kind by name and version; for these,
give the bill of materials to a scanner that has its own advisories.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from onair_dev.failures import Failed

SECURITY_SUITE = "Debian-Security"
TIMEOUT_S = 300
_UPGRADE = re.compile(r"^Inst (?P<name>\S+) \[(?P<has>\S+)\] \((?P<fixed>\S+) (?P<from>[^)]*)\)")
_HAS_SUITE = re.compile(rf"^Index {SECURITY_SUITE}$", re.MULTILINE)
ASK = """set -e
# By default apt-get only warns of lists that it cannot get
apt-get -qq -o Acquire::Retries=3 -o APT::Update::Error-Mode=any update >/dev/null
apt-get indextargets --format 'Index $(LABEL)' 'Identifier: Packages'
apt-get --simulate dist-upgrade
"""


class SecurityUpdate(NamedTuple):
    package: str
    has: str
    fixed: str


def security_updates(told: str) -> Iterator[SecurityUpdate]:
    """Parses the output of `apt-get --simulate dist-upgrade`."""
    for line in told.splitlines():
        if (match := _UPGRADE.match(line)) and SECURITY_SUITE in match["from"]:
            yield SecurityUpdate(match["name"], match["has"], match["fixed"])


def updates_of(reference: str) -> list[SecurityUpdate]:
    """Asks Debian's servers.

    Raises:
        Failed: they did not respond, or the image's sources do not name the security suite.
    """
    command = [
        "docker",
        "run",
        "--rm",
        "--network=host",
        "--user=0:0",
        "--entrypoint=/bin/sh",
        reference,
        "-c",
        ASK,
    ]
    unread = f"{reference}: Debian's package lists could not be read"
    remedy = "see that this machine reaches a Debian mirror"
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{unread} within {TIMEOUT_S} s", remedy) from error
    if done.returncode != 0:
        raise Failed(f"{unread}: {done.stderr.strip()[-300:]}", remedy)
    if not _HAS_SUITE.search(done.stdout):
        raise Failed(
            f"{reference}: none of its package sources is Debian's security suite",
            "give this machine's package sources a mirror of it, then `make refresh`",
        )
    return list(security_updates(done.stdout))
