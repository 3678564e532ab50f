"""Structured logs, one JSON line per event; the standard library alone, so that PID 1 starts at once."""

from __future__ import annotations

import json
import sys
import time


def log(event: str, **fields: object) -> None:
    """Writes one event. Never pass a key or an address that holds one."""
    moment = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"
    sys.stderr.write(json.dumps({"timestamp": stamp, "event": event, **fields}, default=str) + "\n")
