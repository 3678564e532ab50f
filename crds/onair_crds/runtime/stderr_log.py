"""Log lines of processes that must start at once: one JSON object an event, by the standard library alone."""

from __future__ import annotations

import json
import sys
import time


def log(event: str, **fields: object) -> None:
    """Writes one event. Never pass a key or an address that holds one."""
    moment = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"
    sys.stderr.write(json.dumps({"timestamp": stamp, "event": event, **fields}, default=str) + "\n")
