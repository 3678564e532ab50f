"""Participants whose room server or replica of the facade goes away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import jwt
import pytest
from tests.support.cut_proxy import cut_proxy
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.rooms.hosted_rooms import HOSTED, add_credentials, guest, join, room_server, settings_for
from tests.support.rooms.participant import participant

from onair_crds.contract.rooms import SIGNAL_PATH

pytestmark = pytest.mark.media

TOKEN_S = 10
"""The shortest that a token may admit."""


async def test_participants_come_back_by_themselves_without_an_operator_when_their_token_has_expired(
    start_facade: StartFacade, resources: StoredResources, sign_in: Callable[..., User], tmp_path: Path
) -> None:
    add_credentials(resources)
    with (
        room_server(tmp_path) as server,
        start_facade(rooms=settings_for(server, TOKEN_S)) as stays,
        ExitStack() as stack,
    ):
        ends = stack.enter_context(start_facade(rooms=settings_for(server, TOKEN_S)))
        show = sign_in(facade=stays).project(**HOSTED)
        # Ben's does not expire: their browser may take as long to start
        lasts = stack.enter_context(start_facade(rooms=settings_for(server)))
        ben_token, _ = join(show, User(lasts, guest(show, name="ben").token))
        # As a Service does, which leads to another replica when one has ended
        async with cut_proxy(port_of(ends)) as service:
            url = f"ws://127.0.0.1:{service.port}{SIGNAL_PATH}"
            async with AsyncExitStack() as browsers:
                await browsers.enter_async_context(participant(url, ben_token))
                anna_token, _ = join(show)
                anna = await browsers.enter_async_context(participant(url, anna_token))
                await anna.until("Ben is seen", lambda report: seen(report) > 5)
                service.lead_to(port_of(stays))
                await asyncio.to_thread(stack.close)
                await anna.until("Anna is back", lambda report: "reconnected" in names(report))
                before = seen(anna.report)
                await anna.until("Ben is still seen", lambda report: seen(report) > before + 5)
                await anna.until("the token has expired", lambda _: expired(anna_token))
                await asyncio.to_thread(server.stop)
                await asyncio.to_thread(server.start)
                at = len(anna.report["events"])
                await anna.until("Ben is seen anew", lambda report: "picture again" in names(report)[at:], 90)


def expired(token: str) -> bool:
    """Whether it admits nobody any more: those connected have another one, from the server."""
    return int(jwt.decode(token, options={"verify_signature": False})["exp"]) < time.time()


def port_of(facade: FacadeThread) -> int:
    return urlparse(facade.url).port or 0


def seen(report: dict[str, Any]) -> int:
    return int(report["frames"]["ben camera"])


def names(report: dict[str, Any]) -> list[str]:
    return [each["name"] for each in report["events"]]
