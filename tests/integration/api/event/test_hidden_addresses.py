"""Addresses that may hold a key: who is shown them, in reads and in events."""

from __future__ import annotations

import pytest
from tests.support.event_client import HttpStream, WebSocket
from tests.support.facade import FacadeThread, User
from tests.support.tokens import invite, seen_by

SECRET = "key-in-an-address-81c"
URL = f"rtmp://media.example/app/{SECRET}"
PAGE = f"https://graphics.example/?token={SECRET}"


@pytest.mark.parametrize(
    ("role", "shown"),
    [("VIEWER", False), ("GUEST", False), ("CONTRIBUTOR", True), ("RENDERER", True), ("COHOST", True)],
)
def test_only_who_works_on_a_show_is_shown_addresses(
    host: User, one: FacadeThread, two: FacadeThread, role: str, *, shown: bool
) -> None:
    show = host.project(composition={"external": {"url": PAGE}})
    guest = invite(show, role)
    own = seen_by(guest, show)
    with (
        WebSocket(one, guest.token) as socket,
        HttpStream(two, guest, sse=False, **{"subscribe.name": "*"}) as lines,
    ):
        socket.subscribe()
        assert "subscribed" in lines.next()["result"]
        show.destination(address={"rtmpPush": {"url": URL}})
        show.patch(metadata=1)
        for stream in (socket, lines):
            created, updated = (stream.next()["result"]["event"]["payload"] for _ in range(2))
            record = created["destination"]["create"]["destination"]
            assert record["address"] == {"rtmpPush": {"url": URL} if shown else {}}
            project = updated["project"]["update"]["project"]
            assert project["composition"] == {"external": {"url": PAGE} if shown else {}}
            assert (SECRET in str(project["destinations"])) is shown
    project = own.get()["project"]
    assert project["composition"] == {"external": {"url": PAGE} if shown else {}}
    assert project["destinations"][0]["address"] == {"rtmpPush": {"url": URL} if shown else {}}
