"""The documentation page."""

from __future__ import annotations

import httpx
from tests.support.control_plane import free_port
from tests.support.facade import FacadeThread, StartFacade


def test_the_page_needs_nothing_from_elsewhere(facade: FacadeThread) -> None:
    page = facade.http.get("/docs").text
    assert "://" not in page.replace("http://www.w3.org", "")
    for asset, least in (("swagger-ui-bundle.js", 500_000), ("swagger-ui.css", 50_000), ("favicon.png", 100)):
        assert f"docs/assets/{asset}" in page
        assert len(facade.http.get(f"/docs/assets/{asset}").content) > least


def test_documents_can_be_closed_and_metrics_have_a_port_of_their_own(start_facade: StartFacade) -> None:
    port = free_port()
    with start_facade(listen={"metrics_port": port, "docs": False}) as facade:
        for path in ("/", "/docs", "/openapi.json", "/live/v2/openapi.json", "/metrics"):
            assert facade.http.get(path).status_code == 404
        assert facade.http.get("/healthz").status_code == 200
        text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
        assert "onair_api_stream_sessions" in text
