"""Whose connections there are, across the end of a process that admitted them."""

from __future__ import annotations

from typing import Any

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_ingest.mediamtx.client import MediaMtx
from onair_ingest.mediamtx.records import Path, PathSource, PublisherConnection
from onair_ingest.streams import connection_identity
from onair_ingest.streams.connection_identity import ConnectionIdentity, Identities

ADMITTED = ConnectionIdentity(stream_of_key("key"), "203.0.113.40")


class AskedMediaMtx(MediaMtx):
    """Tells of these connections, and counts how often it is asked."""

    def __init__(self, **told: dict[str, str]) -> None:
        self._told = told
        self.asked = 0
        self.kicked: list[str] = []

    async def connection(self, source: PathSource) -> PublisherConnection | None:
        self.asked += 1
        told = {"remoteAddr": "203.0.113.41:9", **self._told[source.id]}
        return PublisherConnection.model_validate({"id": source.id, **told})

    async def kick(self, source: PathSource) -> None:
        self.kicked.append(source.id)


def paths(type_: str, **names: str) -> list[Path]:
    """By the ids of their publishers' connections."""
    documents: list[dict[str, Any]] = [
        {"name": name, "available": True, "source": {"type": type_, "id": connection}}
        for connection, name in names.items()
    ]
    return [Path.model_validate(each) for each in documents]


async def streams(identities: Identities, looked_at: list[Path]) -> list[tuple[str, str]]:
    return [(look.stream, look.address) for look in await identities.looks(looked_at)]


async def test_a_connection_that_an_earlier_process_admitted_is_known() -> None:
    server = AskedMediaMtx()
    identities = Identities(server, {"c1": ADMITTED})
    for _ in range(2):
        assert await streams(identities, paths("srtConn", c1="camera")) == [
            (ADMITTED.stream, ADMITTED.address)
        ]
    assert not server.asked


async def test_what_the_server_tells_of_others_is_their_key() -> None:
    server = AskedMediaMtx(
        by_path={}, by_user={"user": "two"}, by_query={"user": "me", "query": "pass=three"}
    )
    for type_, connection, path, key in (
        ("srtConn", "by_path", "one", "one"),
        ("srtConn", "by_user", "camera", "two"),
        ("rtmpConn", "by_user", "live/camera", "two"),
        ("rtmpConn", "by_query", "live/camera", "three"),
    ):
        found = await streams(Identities(server), paths(type_, **{connection: path}))
        assert found == [(stream_of_key(key), "203.0.113.41")]


async def test_former_connections_that_are_gone_are_forgotten_once_they_cannot_come_any_more() -> None:
    now_s = 100.0
    identities = Identities(AskedMediaMtx(), {"c1": ADMITTED, "c2": ADMITTED}, lambda: now_s)
    await identities.looks(paths("srtConn", c1="camera"))
    assert set(identities.known) == {"c1", "c2"}, "it may bring its first media yet"
    now_s += connection_identity.FORMER_S
    await identities.looks(paths("srtConn", c1="camera"))
    assert set(identities.known) == {"c1"}
    await identities.looks([])
    assert not identities.known
