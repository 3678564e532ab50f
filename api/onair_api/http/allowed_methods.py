"""The methods that a path offers, by the routing table."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Match, Mount
from starlette.types import Scope

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


def allowed_methods(app: FastAPI, scope: Scope) -> list[str]:
    """The methods that a path offers, HEAD and OPTIONS with them; none if there is nothing."""
    found = {method for method in METHODS if _offers(app, scope, method)}
    if not found:
        return []
    return sorted(found | {"OPTIONS"} | ({"HEAD"} if "GET" in found else set()))


def _offers(app: FastAPI, scope: Scope, method: str) -> bool:
    probe = {**scope, "method": method}
    return any(
        route.matches(probe)[0] is Match.FULL and (method == "GET" or not isinstance(route, Mount))
        for route in app.router.routes
    )
