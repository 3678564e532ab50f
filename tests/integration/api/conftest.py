"""One facade for the whole run; tests are kept apart by users, whom ownership separates."""

from tests.support.fixtures.facade import (
    anna,
    api_key,
    cluster,
    facade,
    host,
    one,
    proxy,
    recorded_logs,
    replicas,
    rights,
    second_facade,
    show,
    sign_in,
    start_behind,
    start_facade,
    two,
)

__all__ = [
    "anna",
    "api_key",
    "cluster",
    "facade",
    "host",
    "one",
    "proxy",
    "recorded_logs",
    "replicas",
    "rights",
    "second_facade",
    "show",
    "sign_in",
    "start_behind",
    "start_facade",
    "two",
]
