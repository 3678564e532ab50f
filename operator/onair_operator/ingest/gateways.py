"""All gateways of the installation: their clients, and the streams that they report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import (
    TERM_HEADER,
    Heartbeat,
    Pulls,
    gateway_token,
    reader_token,
)
from onair_crds.contract.program import ProgramSource
from onair_operator.ingest.client import GatewayClient
from onair_operator.ingest.gateway_streams import GatewayStreams, News
from onair_operator.ingest.shown_previews import GatewayRoomAccess, ShownPreviews
from onair_operator.settings import GatewaySettings


class Gateways:
    """Follows every gateway from `follow` to `close`; of none there are no streams."""

    def __init__(
        self,
        gateways: Iterable[GatewaySettings] = (),
        changed: Callable[[News], None] | None = None,
        leads: Callable[[], bool] = lambda: True,
        access: GatewayRoomAccess | None = None,
        on_heartbeat: Callable[[Heartbeat], None] = lambda heartbeat: None,
    ) -> None:
        """
        Args:
            changed: called with what each gateway reports, and when one can no longer be reached.
            leads: whether this process may act at the moment.
            access: how gateways are let into rooms; None if there are no rooms.
            on_heartbeat: called with each heartbeat of any gateway.
        """
        self._access = access
        self._on_heartbeat = on_heartbeat
        self._shown: dict[str, ShownPreviews] = {}
        self._settings = tuple(gateways)
        self._leads = leads
        self._secret: bytes | None = None
        self._clients: dict[str, GatewayClient] = {}
        self.streams = GatewayStreams(self._settings, changed)

    def follow(self, secret: bytes | None, term: int) -> None:
        """Follows all gateways from now on.

        Args:
            secret: the installation's; None: gateways refuse requests until `take_secret`.
            term: the leader's.
        """
        self._secret = secret
        shown = {} if secret is None else {"Authorization": _bearer(secret)}
        headers = {**shown, TERM_HEADER: str(term)}
        self._clients = {
            each.name: GatewayClient(
                each, headers, self.streams, self._leads, self._access, self._on_heartbeat
            )
            for each in self._settings
        }

    def take_secret(self, secret: bytes) -> None:
        """Makes all tokens with this secret of the installation from now on."""
        self._secret = secret
        for client in self._clients.values():
            client.show(_bearer(secret))

    def program_source(self, source: str, gateway: str, stream: str) -> ProgramSource | None:
        """What an encoder needs to read a stream of a source; None if the gateway is none of ours."""
        url = next((each.url for each in self._settings if each.name == gateway), None)
        if url is None or self._secret is None:
            return None
        token = SecretStr(reader_token(self._secret, stream))
        return ProgramSource(id=source, gateway=url.rstrip("/"), stream=stream, token=token)

    def lacks_secret(self, gateway: str) -> bool:
        """Whether streams of a gateway of ours cannot be read, as there is no secret to make tokens with."""
        return self._secret is None and any(each.name == gateway for each in self._settings)

    def cut_off(self, gateway: str, stream: str) -> None:
        """Disconnects the publisher of a stream, in the background."""
        if client := self._clients.get(gateway):
            client.cut_off(stream)

    def want_pulls(self, gateway: str, pulls: Pulls) -> None:
        """Has a gateway pull this, and nothing else, from now on."""
        if client := self._clients.get(gateway):
            client.want_pulls(pulls)

    def wanted_pulls(self, gateway: str) -> Pulls | None:
        """What a gateway is to pull; None if nobody has said so."""
        client = self._clients.get(gateway)
        return client.wanted_pulls if client else None

    def show_previews(self, room: str, shown: ShownPreviews) -> None:
        """Has gateways show this in a room, and nothing else there, from now on."""
        self._shown[room] = shown
        for client in self._clients.values():
            client.previews.want(room, shown)

    def shown_previews(self, room: str) -> ShownPreviews | None:
        """What is to be shown in a room; None if nothing has been said of it."""
        return self._shown.get(room)

    def forget_room(self, room: str) -> None:
        """Shows nothing in the room of a project that is gone."""
        self._shown.pop(room, None)
        for client in self._clients.values():
            client.previews.forget(room)

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients.values()))


def _bearer(secret: bytes) -> str:
    return f"Bearer {gateway_token(secret, 'operator')}"
