"""Browsers of other origins."""

from __future__ import annotations

from tests.support.facade import FacadeThread, User


def test_browsers_of_any_origin_may_call(facade: FacadeThread, anna: User) -> None:
    http = facade.http
    origin = {"Origin": "https://studio.example"}
    preflight = http.options(
        "/live/v2/collection",
        headers={
            **origin,
            "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "authorization, apistream-sessionid, x-other",
        },
    )
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    allowed = {h.strip().lower() for h in preflight.headers["Access-Control-Allow-Headers"].split(",")}
    assert {
        "authorization", "x-api-key", "content-type", "clienttype", "version", "sdkversion",
        "sessionid", "x-requested-with", "apistream-sessionid", "x-grpc-web", "grpc-timeout", "x-user-agent",
        "connect-protocol-version", "connect-timeout-ms",
    } == allowed  # fmt: skip
    methods = {m.strip() for m in preflight.headers["Access-Control-Allow-Methods"].split(",")}
    assert {"PUT", "PATCH", "DELETE"} <= methods
    for response in (
        anna.call("GET", "/collection", headers=origin),
        http.get("/live/v2/collection", headers=origin),
        http.get("/nothing", headers=origin),
    ):
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert (
            response.headers["Access-Control-Expose-Headers"]
            == "Authorization, Retry-After, Warning, X-Next-Page-Token, "
            "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin"
        )
    plain = http.options("/live/v2/collection")
    assert (plain.status_code, plain.headers["Allow"]) == (204, "GET, HEAD, OPTIONS, POST")
