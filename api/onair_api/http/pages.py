"""Paths that are no operation of the interface: probes, metrics, the OpenAPI document, a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fastapi_offline
from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from onair_api.auth.signing_keys import SigningKeys
from onair_api.cache.cluster import Cluster
from onair_api.errors import NotFound
from onair_api.http.openapi import VERSIONS, document
from onair_api.http.responses import JsonResponse
from onair_api.settings import Settings
from onair_crds.contract.redirect import REDIRECT_PATH, redirect_script

ASSETS = Path(fastapi_offline.__file__).parent / "static"


REDIRECT_HEADERS = {"Cache-Control": "max-age=300", "Cross-Origin-Resource-Policy": "cross-origin"}


def install(
    app: FastAPI, cluster: Cluster, keys: SigningKeys, is_alive: Callable[[], bool], settings: Settings
) -> None:
    """Adds the pages; the probes report on `cluster` and `keys`.

    Args:
        is_alive: whether all that runs beside requests does.
    """
    router = APIRouter(include_in_schema=False)
    redirect = redirect_script(settings.redirected_hosts, settings.public_url)

    @router.get("/healthz")
    async def healthz() -> Response:
        """Fails only where a restart helps."""
        alive = is_alive()
        return JsonResponse({"alive": alive}, 200 if alive else 503)

    @router.get("/readyz")
    async def readyz() -> Response:
        """Fails until everything was listed once, while the view is stale, and without a signing key."""
        freshness = cluster.freshness()
        ready = freshness.ready and keys.can_sign
        body = {"ready": ready, "waitingFor": freshness.waiting_for, "stale": freshness.stale}
        return JsonResponse(body, 200 if ready else 503)

    @router.get(REDIRECT_PATH)
    async def redirected() -> Response:
        """For host pages of clients that have end points built in."""
        return Response(redirect, media_type="text/javascript", headers=REDIRECT_HEADERS)

    if settings.listen.metrics_port is None:

        @router.get("/metrics")
        async def metrics() -> Response:
            return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    app.include_router(router)
    if settings.listen.docs:
        _install_documents(app, settings.public_url)


def _install_documents(app: FastAPI, public_url: str) -> None:
    router = APIRouter(include_in_schema=False)
    documents = {interface: document(public_url, interface) for interface in VERSIONS}

    @router.get("/openapi.json")
    async def openapi() -> Response:
        return JsonResponse(app.openapi())

    @router.get("/{interface}/v2/openapi.json")
    async def interface_openapi(interface: str) -> Response:
        """The document of one interface, with its own version."""
        if interface not in VERSIONS:
            raise NotFound("there is nothing at this path")
        return JsonResponse(documents[interface])

    @router.get("/")
    async def root() -> Response:
        """A browser that comes to the address itself wants to know what is here."""
        return RedirectResponse("docs")

    @router.get("/docs")
    async def docs() -> Response:
        """Everything that the page needs comes from this service."""
        return get_swagger_ui_html(
            openapi_url="openapi.json",
            title="OnAir",
            swagger_js_url="docs/assets/swagger-ui-bundle.js",
            swagger_css_url="docs/assets/swagger-ui.css",
            swagger_favicon_url="docs/assets/favicon.png",
        )

    app.include_router(router)
    app.mount("/docs/assets", StaticFiles(directory=ASSETS), name="assets")
