"""Metrics and log lines of requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.facade import FacadeThread, User


def test_metrics_count_requests_by_route(facade: FacadeThread, anna: User) -> None:
    show = anna.project()
    show.get()
    anna.call("GET", show.path + "x")
    text = facade.http.get("/metrics").text
    route = '"/live/v2/collection/{collectionId}/project/{projectId}"'
    assert f'onair_api_requests_total{{method="GET",route={route},status="200"}}' in text
    assert f'onair_api_requests_total{{method="GET",route={route},status="404"}}' in text
    assert show.id not in text
    for name in (
        "cache_age_seconds",
        "cache_objects",
        "watch_events_total",
        "request_duration_seconds_bucket",
    ):
        assert f"onair_api_{name}" in text


def test_no_secret_is_in_any_log_line(
    anna: User, sign_in: Callable[..., User], api_key: str, recorded_logs: Any
) -> None:
    show = anna.project()
    secret = "very-secret-stream-key-77"
    path = f"{show.path}/destination"
    address = {"rtmpPush": {"url": "rtmp://a.example/live", "key": secret}}
    created = anna.ok("POST", path, {"address": address})["destination"]["destinationId"]
    anna.call("PATCH", f"{path}/{created}", {"address": {"rtmpPush": {"url": secret, "key": secret}}})
    anna.call("POST", path, {"address": {"rtmpPush": {"url": 5, "key": secret}}, "timeout": secret})
    anna.call("POST", path, content=b"{" + secret.encode())
    text = recorded_logs.getvalue()
    assert '"resource.created"' in text, "the log is recorded"
    for each in (secret, anna.token, api_key, "BEGIN PRIVATE"):
        assert each not in text
    for line in text.strip().split("\n"):
        assert isinstance(json.loads(line), dict)


def test_a_request_is_named_in_its_response_and_its_log_lines(anna: User, recorded_logs: Any) -> None:
    def lines(name: str) -> set[str]:
        logged = map(json.loads, recorded_logs.getvalue().strip().split("\n"))
        return {line["event"] for line in logged if line.get("request") == name}

    given = anna.call("POST", "/collection", {}, headers={"X-Request-Id": "ticket-77"})
    assert given.headers["X-Request-Id"] == "ticket-77"
    assert lines("ticket-77") == {"resource.created", "http.request"}
    made = {anna.call("POST", "/collection", {}).headers["X-Request-Id"] for _ in range(2)}
    assert len(made) == 2
    assert all(lines(each) == {"resource.created", "http.request"} for each in made)
    odd = anna.call("POST", "/collection", {}, headers={"X-Request-Id": 'a"b'})
    assert odd.headers["X-Request-Id"] != 'a"b'
