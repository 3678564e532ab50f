"""buf, which compiles and checks `.proto` files: a package of npm, unpacked into the cache."""

import hashlib
import os
import platform
import subprocess
import tarfile
from pathlib import Path

from onair_dev import required_programs
from onair_dev.failures import Failed

VERSION = required_programs.BUF.name.removeprefix("buf-")
SHA256 = {
    "x64": "fad1e38d6909bbb583a4da81d8c02a01046e2cd663bde7e337dd24277393764b",
    "aarch64": "00eb190aa82df17f393e05b04889cc60a0b13b3259d336e21a87d5f23ab4fd26",
}
"""Of the program, by the names that npm has for machines."""
MACHINES = {"x86_64": "x64", "aarch64": "aarch64"}
FOLDER = required_programs.BUF


def ensure() -> Path:
    """Returns the path of the program; gets it if it is not in the cache.

    Raises:
        Failed: npm is missing or cannot get it, or what it got is something else.
    """
    program = FOLDER / "buf"
    if program.exists():
        return program
    machine = MACHINES.get(platform.machine(), "x64")
    content = _packed(f"@bufbuild/buf-linux-{machine}@{VERSION}")
    if hashlib.sha256(content).hexdigest() != SHA256[machine]:
        raise Failed("buf from npm is not what is pinned", "compare dev/onair_dev/tools/buf.py with npm")
    draft = program.with_suffix(".new")
    draft.write_bytes(content)
    draft.chmod(0o755)
    draft.rename(program)
    return program


def _packed(package: str) -> bytes:
    npm = required_programs.find("npm")
    if npm is None:
        raise Failed("npm is missing, which buf comes from", "run `make demo` or install npm")
    FOLDER.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [npm, "pack", "--silent", package, "--pack-destination", FOLDER]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=_environment(), check=False
    )
    if done.returncode:
        raise Failed("npm cannot get buf", "check the network; a retry continues")
    archive = FOLDER / done.stdout.split()[-1]
    with tarfile.open(archive) as packed:
        member = packed.extractfile("package/bin/buf")
        content = member.read() if member else b""
    archive.unlink()
    return content


def _environment() -> dict[str, str]:
    return {**os.environ, **required_programs.environment()}
