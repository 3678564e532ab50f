"""The CA certificates that servers are trusted by: the system's, and those that the installation adds."""

from __future__ import annotations

import asyncio
import functools
import ssl
import threading
from pathlib import Path

from onair_crds.runtime.stderr_log import log
from onair_encoder.paths import CA_CERTIFICATES

_one_at_a_time = threading.Lock()
Stamp = tuple[tuple[str, int], ...]


async def client_context() -> ssl.SSLContext:
    """A context that verifies certificate and host name.

    Made in a thread, as loading the system's CA certificates takes some 30 ms, and
    shared by all until the files in the folder change.
    """
    return await asyncio.to_thread(_current)


def _current() -> ssl.SSLContext:
    with _one_at_a_time:
        return _context(_stamp(CA_CERTIFICATES))


def _stamp(folder: Path) -> Stamp:
    """Files and their times. A mounted ConfigMap has hidden folders of its own in it."""
    try:
        files = [file for file in folder.iterdir() if not file.name.startswith(".") and file.is_file()]
        return tuple(sorted((str(file), file.stat().st_mtime_ns) for file in files))
    except OSError:
        return ()


@functools.lru_cache(maxsize=1)
def _context(stamp: Stamp) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for file, _changed in stamp:
        try:
            context.load_verify_locations(cafile=file)
        except (OSError, ssl.SSLError) as error:
            log("ca-certificate.unusable", file=Path(file).name, error=type(error).__name__)
    return context
