"""What the routing table knows of a path."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Match
from starlette.types import Scope


def allowed_methods(app: FastAPI, scope: Scope) -> list[str]:
    """The methods that a path offers, HEAD and OPTIONS with them; none where there is nothing."""
    probe = {**scope, "method": "OPTIONS"}
    found: set[str] = set()
    for route in app.router.routes:
        match, _ = route.matches(probe)
        if match is not Match.NONE:
            found |= set(getattr(route, "methods", None) or {"GET"})
    if not found:
        return []
    return sorted(found | {"OPTIONS"} | ({"HEAD"} if "GET" in found else set()))
