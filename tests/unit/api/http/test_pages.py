"""Probes."""

from __future__ import annotations

from fastapi import FastAPI
from tests.support.asgi import client


async def test_it_is_not_ready_before_the_cache_is_filled(app: FastAPI) -> None:
    async with client(app) as http:
        response = await http.get("/readyz")
        assert response.status_code == 503
        assert "Project" in response.json()["waitingFor"]
        assert (await http.get("/healthz")).status_code == 200


async def test_the_address_itself_leads_to_the_documentation(app: FastAPI) -> None:
    async with client(app) as http:
        response = await http.get("/", follow_redirects=False)
        assert (response.status_code, response.headers["Location"]) == (307, "docs")
        page = await http.get("/", follow_redirects=True)
        assert (page.status_code, str(page.url.path)) == (200, "/docs")


async def test_each_interface_serves_its_document(app: FastAPI) -> None:
    async with client(app) as http:
        for interface, version in (("live", "2.1"), ("layout", "2.0"), ("event", "2.0")):
            document = (await http.get(f"/{interface}/v2/openapi.json")).json()
            assert document["info"]["version"] == version
        assert (await http.get("/other/v2/openapi.json")).status_code == 404


async def test_host_pages_load_the_script_that_redirects_their_end_points(app: FastAPI) -> None:
    async with client(app) as http:
        response = await http.get("/sdk/redirect.js", headers={"Origin": "https://a.example"})
        assert response.headers["Content-Type"].startswith("text/javascript")
        assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
        assert response.headers["Access-Control-Allow-Origin"] == "https://a.example"
        assert '"hosts": ["live.api.stream", ' in response.text
