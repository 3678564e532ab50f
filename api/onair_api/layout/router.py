"""All Layout operations, /layout/v2. Order matters for speed alone: routes are tried one after another."""

from __future__ import annotations

from fastapi import APIRouter

from onair_api.layout.endpoints import router as layouts
from onair_api.layout.layer.endpoints import router as layers

ROUTERS: tuple[APIRouter, ...] = (layers, layouts)
