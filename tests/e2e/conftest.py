"""Fixtures for shows in the cluster of `make up`."""

from tests.support.fixtures.clip import clip
from tests.support.fixtures.cluster import cluster, facade_client, make_show, on_air, path, receiver
from tests.support.fixtures.figures import record
from tests.support.fixtures.policies import policies

__all__ = [
    "clip",
    "cluster",
    "facade_client",
    "make_show",
    "on_air",
    "path",
    "policies",
    "receiver",
    "record",
]
