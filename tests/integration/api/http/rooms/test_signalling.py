"""Browsers with LiveKit's unmodified client join hosted rooms through the facade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.facade import Cluster, Facade, StartFacade, User
from tests.support.rooms.hosted_rooms import (
    HOSTED,
    add_credentials,
    guest,
    join,
    room_server,
    settings_for,
    signal_url,
)
from tests.support.rooms.participant import participant

pytestmark = pytest.mark.media


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    folder: Path = tmp_path_factory.mktemp("livekit")
    with room_server(folder) as server:
        yield server


@pytest.fixture(scope="module")
def studio(start_facade: StartFacade, cluster: Cluster, server: LiveKitServer) -> Iterator[Facade]:
    add_credentials(cluster)
    with start_facade(rooms=settings_for(server)) as facade:
        yield facade


async def test_two_participants_see_and_hear_each_other(studio: Facade, sign_in: Callable[..., User]) -> None:
    show = sign_in("anna", facade=studio).project(**HOSTED)
    berta = guest(show, name="berta")
    anna_token, anna = join(show, displayName="Anna")
    berta_token, _ = join(show, berta, displayName="Berta", participantMetadata={"isMirrored": True})
    assert anna == "anna"
    async with (
        participant(signal_url(studio), anna_token) as one,
        participant(signal_url(studio), berta_token) as two,
    ):
        await one.until("Berta is seen", lambda report: report["frames"]["berta camera"] > 5)
        await two.until("Anna is seen", lambda report: report["frames"]["anna camera"] > 5)
        await two.until("Anna is heard", lambda report: report["loud"]["anna microphone"])
        seen = one.report["participants"]["berta"]
        assert seen["name"] == "Berta"
        assert '"participantRole":"ROLE_GUEST"' in seen["metadata"]
        assert '"isMirrored":true' in seen["metadata"]
