"""All Live operations, /live/v2. Order matters for speed alone: routes are tried one after another."""

from __future__ import annotations

from fastapi import APIRouter

from onair_api.live.authentication.endpoints import router as authentication
from onair_api.live.authentication.redirect import router as redirects
from onair_api.live.broadcast.endpoints import router as broadcasts
from onair_api.live.collection.endpoints import router as collections
from onair_api.live.destination.endpoints import router as destinations
from onair_api.live.project.endpoints import router as projects
from onair_api.live.room.endpoints import router as rooms
from onair_api.live.source.endpoints import router as sources

ROUTERS: tuple[APIRouter, ...] = (
    projects,
    broadcasts,
    destinations,
    sources,
    rooms,
    collections,
    authentication,
    redirects,
)
