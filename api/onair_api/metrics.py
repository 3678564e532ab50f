"""Metrics of the facade, served at /metrics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter(
    "onair_api_requests_total", "HTTP requests that were answered.", ["method", "route", "status"]
)
LATENCY = Histogram(
    "onair_api_request_duration_seconds",
    "Time from the headers of a request to the end of its response.",
    ["route"],
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
CACHE_AGE = Gauge(
    "onair_api_cache_age_seconds", "Seconds since the API server last responded about this kind.", ["kind"]
)
CACHE_OBJECTS = Gauge("onair_api_cache_objects", "Objects in the cache.", ["kind"])
WATCH_RESTARTS = Counter(
    "onair_api_watch_restarts_total", "Watches that broke, or were too old to be resumed.", ["kind", "reason"]
)
WATCH_EVENTS = Counter("onair_api_watch_events_total", "Events of the watches.", ["kind", "type"])
WRITE_CONFLICTS = Counter(
    "onair_api_write_conflicts_total", "Writes that were applied again to a newer version.", ["kind"]
)
TOKEN_VERIFICATIONS = Counter(
    "onair_api_token_verifications_total", "Token signatures that were verified because they were not cached."
)
RATE_LIMITED = Counter("onair_api_rate_limited_total", "Requests that a rate limit refused.", ["scope"])
IDLE_CONNECTIONS_CLOSED = Counter(
    "onair_api_idle_connections_closed_total",
    "Idle connections that were closed because there were too many.",
)
RATE_LIMITS_OPEN = Gauge(
    "onair_api_rate_limits_open", "1 while replicas count for themselves: Redis is unreachable."
)
PUBLISH_REQUESTS = Counter(
    "onair_api_publish_requests_total",
    "Requests of gateways whether a publisher is admitted, by result.",
    ["result"],
)
STREAM_SESSIONS = Gauge("onair_api_stream_sessions", "Open event streams.", ["transport"])
STREAM_SUBSCRIPTIONS = Gauge("onair_api_stream_subscriptions", "Subscriptions of all open event streams.")
EVENTS_IN = Counter("onair_api_events_in_total", "Events that reached this replica.", ["family"])
EVENTS_OUT = Counter("onair_api_events_out_total", "Deliveries of events to streams.")
EVENTS_DROPPED = Counter(
    "onair_api_events_dropped_total", "Deliveries of events that were dropped.", ["reason"]
)
REDIS_CONNECTED = Gauge("onair_api_redis_connected", "1 while custom events reach this replica.")
