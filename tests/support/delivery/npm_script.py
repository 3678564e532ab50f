"""Scripts for browsers out of npm packages, pinned by their hash."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path


def npm_script(package: str, version: str, member: str, sha256: str) -> str:
    """A file of a package's; from npm once, then from the cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onair/npm"
    script = cache / f"{package}-{version}.js"
    if not script.exists():
        cache.mkdir(parents=True, exist_ok=True)
        packing = ["npm", "pack", "--silent", f"{package}@{version}", "--pack-destination", str(cache)]
        subprocess.run(packing, check=True, capture_output=True, timeout=120)
        packed = cache / f"{package}-{version}.tgz"
        with tarfile.open(packed) as archive:
            content = archive.extractfile(f"package/dist/{member}")
            assert content
            script.write_bytes(content.read())
        packed.unlink()
    text = script.read_bytes()
    assert hashlib.sha256(text).hexdigest() == sha256, f"{script} is not what was pinned"
    return text.decode()
