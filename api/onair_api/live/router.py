"""All Live operations, /live/v2. Order matters for speed alone: routes are tried one after another."""

from __future__ import annotations

from fastapi import APIRouter

from onair_api.auth.endpoints import router as authentication
from onair_api.live.broadcast.endpoints import router as broadcasts
from onair_api.live.collection.endpoints import router as collections
from onair_api.live.destination.endpoints import router as destinations
from onair_api.live.project.endpoints import router as projects

router = APIRouter()
for each in (projects, broadcasts, destinations, collections, authentication):
    router.include_router(each)
