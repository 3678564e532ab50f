"""Requests to livekit-server's RoomService. Every one has a deadline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from onair_crds.contract.participant_roles import ATTRIBUTE
from onair_crds.contract.room_tokens import livekit_service
from onair_crds.contract.rooms import SERVER_MARGIN_S, metadata_of, opening_of
from onair_crds.room_server.credentials import CredentialsReader
from onair_crds.room_server.errors import RoomServerError
from onair_crds.room_server.large_list import MAX_ITEM_BYTES, LargeList, OversizedItem
from onair_crds.runtime.bounded_body import bounded_body
from onair_crds.shapes import JsonObject

SERVICE = "/twirp/livekit.RoomService/"
TIMEOUT_S = 3.0
MAX_RESPONSE_BYTES = 4 * 1024 * 1024
MAX_SMALL_LIST_BYTES = 256 * 1024
"""Participants that are fewer bytes than this are decoded at once, which is faster."""
MAX_PARTICIPANTS_BYTES = 64 * MAX_ITEM_BYTES
"""Of all in a room, without those of whom there is too much to say; more than one user's joins may take."""
MAX_METADATA_CHARACTERS = 20_480
"""Of a participant: what a token may bring, and what pages add."""
MAX_ATTRIBUTES_CHARACTERS = 4096
"""Of a participant's attributes, names included; only the role is of any use."""
GONE = ("DISCONNECTED", 3)
"""States of participants who are not in the room any more, by name and number."""
MAX_LISTED_ROOMS = 500
"""Each takes less than a kilobyte in the list, and could take eight."""


@dataclass(frozen=True)
class ServerRoom:
    """A room as the room server has it."""

    name: str
    opening: int | None
    """None for one that this installation did not open."""
    participants: int


@dataclass(frozen=True)
class ServerParticipant:
    """A participant as the room server knows it."""

    identity: str
    name: str
    joined_s: int
    """Unix time in seconds."""
    hidden: bool
    sources: tuple[str, ...]
    """Of the published tracks: `CAMERA`, `MICROPHONE`, `SCREEN_SHARE`, …"""
    videos: tuple[str, ...] = field(default=(), compare=False)
    """Track ids of the published video."""
    metadata: str = field(default="", compare=False)
    """Participants change theirs as often as they like: that alone has no consequence. Empty if too long."""
    attributes: dict[str, str] = field(default_factory=dict, compare=False)
    """Those they change, too; of too many their role alone."""
    publishes: bool = field(default=False, compare=False)
    changes_metadata: bool = field(default=False, compare=False)
    """Whether they may change their own, name and attributes included."""
    has_surplus_attributes: bool = field(default=False, compare=False)
    is_oversized: bool = field(default=False, compare=False)
    """There is more to say of them than is read: nothing else is known."""


class RoomServer:
    """One room server; closed with `close`."""

    def __init__(self, url: str, credentials: CredentialsReader) -> None:
        """
        Args:
            url: of its HTTP port, `http://…` or `https://…`.
        """
        self.url = url.rstrip("/")
        self.credentials = credentials
        self._session: aiohttp.ClientSession | None = None

    def session(self) -> aiohttp.ClientSession:
        """The connections to the server; of the loop that first asks."""
        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=True)
        return self._session

    async def close(self) -> None:
        if self._session:
            await self._session.close()
            self._session = None

    async def open(self, room: str, opening: int, empty_s: int) -> None:
        """Makes the room of this opening exist. One of an earlier opening goes; a later one stays.

        Args:
            empty_s: how long the room may be empty; the server itself waits SERVER_MARGIN_S longer.
        """
        present = await self._create(room, opening, empty_s)
        if present is not None and present < opening:
            await self.delete(room)
            await self._create(room, opening, empty_s)

    async def _create(self, room: str, opening: int, empty_s: int) -> int | None:
        """Gives the opening of the room that is there now."""
        timeout_s = empty_s + SERVER_MARGIN_S
        made = await self._call(
            "CreateRoom",
            room,
            name=room,
            empty_timeout=timeout_s,
            departure_timeout=timeout_s,
            metadata=metadata_of(opening),
        )
        return opening_of(str(made.get("metadata", "")))

    async def delete(self, room: str) -> None:
        """Disconnects everybody; nothing happens where there is no such room."""
        try:
            await self._call("DeleteRoom", room, room=room)
        except RoomServerError as error:
            if not error.not_found:
                raise

    async def rooms(self, names: Sequence[str]) -> list[ServerRoom]:
        """Those of these rooms that are there.

        Args:
            names: at most `MAX_LISTED_ROOMS`.
        """
        if not names:
            return []
        listed = await self._call("ListRooms", "", names=list(names))
        return [
            ServerRoom(
                str(room.get("name", "")),
                opening_of(str(room.get("metadata", ""))),
                int(room.get("num_participants") or 0),
            )
            for room in _items(listed, "rooms")
        ]

    async def participants(self, room: str) -> list[ServerParticipant]:
        """All, those unseen too, in the order in which they joined; none of a room that is not there."""
        try:
            async with self._request("ListParticipants", room, room=room) as response:
                found = [each async for each in _participants(response)]
        except RoomServerError as error:
            if error.not_found:
                return []
            raise
        return sorted(found, key=lambda each: (each.joined_s, each.identity))

    async def remove(self, room: str, identity: str) -> None:
        """Disconnects one participant; nothing happens where there is no such."""
        try:
            await self._call("RemoveParticipant", room, room=room, identity=identity)
        except RoomServerError as error:
            if not error.not_found:
                raise

    async def rename(self, room: str, identity: str, name: str, metadata: str) -> None:
        """Gives a participant another name and metadata; nothing happens where there is no such."""
        try:
            await self._call(
                "UpdateParticipant", room, room=room, identity=identity, name=name, metadata=metadata
            )
        except RoomServerError as error:
            if not error.not_found:
                raise

    async def clear_attributes(self, room: str, identity: str) -> None:
        """Deletes a participant's attributes but for their role; nothing happens where there is no such."""
        try:
            known = await self._call("GetParticipant", room, room=room, identity=identity)
            surplus = {name: "" for name in _fields(known, "attributes") if name != ATTRIBUTE}
            await self._call("UpdateParticipant", room, room=room, identity=identity, attributes=surplus)
        except RoomServerError as error:
            if not error.not_found:
                raise

    async def _call(self, method: str, room_of_token: str, /, **body: Any) -> JsonObject:
        """The response of an operation, with a token for a room or, empty, for none."""
        async with self._request(method, room_of_token, **body) as response:
            value = json.loads(await bounded_body(response, MAX_RESPONSE_BYTES))
        return value if isinstance(value, dict) else {}

    @asynccontextmanager
    async def _request(
        self, method: str, room_of_token: str, /, **body: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The response while it is read; what fails there is an error of the room server's too."""
        credentials = await self.credentials.get()
        token = livekit_service(credentials.api_key, credentials.api_secret, room_of_token)
        headers = {"Authorization": f"Bearer {token.get_secret_value()}"}
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                self.session().post(
                    self.url + SERVICE + method, json=body, headers=headers, allow_redirects=False
                ) as response,
            ):
                if response.status == 401:
                    self.credentials.forget()
                if response.status != 200:
                    raise RoomServerError(
                        f"the room server refuses {method}: HTTP {response.status}", response.status
                    )
                yield response
        except (TimeoutError, aiohttp.ClientError, ValueError, RecursionError) as error:
            text = f"the room server does not respond to {method}: {type(error).__name__}"
            raise RoomServerError(text) from error


async def _participants(response: aiohttp.ClientResponse) -> AsyncIterator[ServerParticipant]:
    """Those of a list, which is taken apart where it is large.

    Raises:
        ValueError, RecursionError: it is none, or too large.
    """
    begun, parts = bytearray(), response.content.iter_any()
    while part := await anext(parts, b""):
        begun += part
        if len(begun) > MAX_SMALL_LIST_BYTES:
            break
    else:
        value = json.loads(begun)
        for each in _items(value, "participants") if isinstance(value, dict) else ():
            if each.get("state") not in GONE:
                yield _participant(each)
        return
    large, part = LargeList(), bytes(begun)
    while part:
        for item in large.items(part):
            if isinstance(item, OversizedItem):
                if item.identity:
                    yield ServerParticipant(item.identity, "", 0, False, (), is_oversized=True)
            elif item.get("state") not in GONE:
                yield _participant(item)
        if large.taken_bytes > MAX_PARTICIPANTS_BYTES:
            raise ValueError(f"participants of more than {MAX_PARTICIPANTS_BYTES} bytes")
        part = await anext(parts, b"")
    if not large.is_whole:
        raise ValueError("a list that is cut off")


def _items(value: JsonObject, name: str) -> list[JsonObject]:
    found = value.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _fields(value: JsonObject, name: str) -> JsonObject:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _participant(value: JsonObject) -> ServerParticipant:
    permission = _fields(value, "permission")
    tracks = _items(value, "tracks")
    metadata = str(value.get("metadata", ""))
    attributes = {name: str(text) for name, text in _fields(value, "attributes").items()}
    if has_surplus := sum(map(len, (*attributes, *attributes.values()))) > MAX_ATTRIBUTES_CHARACTERS:
        attributes = {ATTRIBUTE: attributes.get(ATTRIBUTE, "")[:MAX_ATTRIBUTES_CHARACTERS]}
    return ServerParticipant(
        identity=str(value.get("identity", "")),
        name=str(value.get("name", "")),
        joined_s=int(value.get("joined_at") or 0),
        hidden=bool(permission.get("hidden")),
        sources=tuple(str(track.get("source", "UNKNOWN")) for track in tracks),
        videos=tuple(str(track.get("sid", "")) for track in tracks if track.get("type") == "VIDEO"),
        metadata=metadata if len(metadata) <= MAX_METADATA_CHARACTERS else "",
        attributes=attributes,
        has_surplus_attributes=has_surplus,
        publishes=bool(permission.get("can_publish")),
        changes_metadata=bool(permission.get("can_update_metadata")),
    )
