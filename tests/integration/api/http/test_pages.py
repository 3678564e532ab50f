"""The documentation page."""

from __future__ import annotations

from tests.support.facade import Facade


def test_the_page_needs_nothing_from_elsewhere(facade: Facade) -> None:
    page = facade.http.get("/docs").text
    assert "://" not in page.replace("http://www.w3.org", "")
    for asset, least in (("swagger-ui-bundle.js", 500_000), ("swagger-ui.css", 50_000), ("favicon.png", 100)):
        assert f"docs/assets/{asset}" in page
        assert len(facade.http.get(f"/docs/assets/{asset}").content) > least
