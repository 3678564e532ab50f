"""Log lines of processes that must start at once: one JSON object each. Uses only the standard library."""

from __future__ import annotations

import json
import sys
import time

FIRST_KEYS = ("timestamp", "level", "event")
"""The keys that every log line of ours begins with."""


def log(event: str, **fields: object) -> None:
    """Writes one event; with an `error` it is a warning. Never pass a key or an address that holds one."""
    moment = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"
    level = "warning" if fields.get("error") else "info"
    line = dict(zip(FIRST_KEYS, (stamp, level, event), strict=True)) | fields
    sys.stderr.write(json.dumps(line, default=str) + "\n")
