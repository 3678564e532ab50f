"""The application without a cluster, and a client of it."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from onair_api.application import create_app
from onair_api.settings import CorsSettings, LimitSettings, Settings


@pytest.fixture
def app() -> FastAPI:
    settings = Settings(
        cors=CorsSettings(origins=["https://a.example"]), limits=LimitSettings(body_bytes=2048)
    )
    return create_app(settings, None)  # type: ignore[arg-type]
