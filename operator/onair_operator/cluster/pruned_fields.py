"""Tells that the API server drops what the operator writes, as it does with fields that its CRDs lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import structlog
from prometheus_client import Counter

log = structlog.get_logger()

PRUNED = Counter(
    "onair_operator_pruned_statuses_total",
    "Writes of a status of which the API server dropped fields, by the resource's kind.",
    ["kind"],
)


class PrunedFields:
    """Warns once of each field."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def compare(self, kind: str, written: Any, stored: Any) -> None:
        """Compares a status as it was written with what the response says is stored."""
        fields = set(_missing(written, stored, "status"))
        if not fields:
            return
        PRUNED.labels(kind).inc()
        if news := {field for field in fields if (kind, field) not in self._told}:
            self._told |= {(kind, field) for field in news}
            log.warning(
                "status.pruned",
                kind=kind,
                fields=sorted(news),
                reason="the CRDs are of another version: upgrade the release that installs them first",
            )


def _missing(written: Any, stored: Any, path: str) -> Iterator[str]:
    """The fields that are written and not stored, without the positions of lists."""
    if isinstance(written, dict):
        kept = stored if isinstance(stored, dict) else {}
        for name, value in written.items():
            if name in kept:
                yield from _missing(value, kept[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"
    elif isinstance(written, list) and isinstance(stored, list):
        for value, kept in zip(written, stored, strict=False):
            yield from _missing(value, kept, path)
