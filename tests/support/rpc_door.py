"""An RPC door of one method, the service behind it, and requests of it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from google.protobuf import json_format
from google.protobuf.message import Message
from tests.support.asgi import client
from tests.support.rpc import WEB, Reply, reply_of

from onair_api.auth.callers import Access
from onair_api.operation import Docs, Flag, Http, Ids, Messages, Operation, Rpc, ServiceMethod
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.door import Door
from onair_crds.shapes import JsonObject

SERVICE, NAME = "live.v21.ProjectService", "GetProject"
PATH = f"/{SERVICE}/{NAME}"
REQUEST = messages_of(SERVICE, NAME).request
OK = {"project": {"projectId": "p"}}
IDS = {"collectionId": "c", "projectId": "p"}


class ScriptedProjects:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.done = asyncio.Event()
        self.served: list[tuple[Ids, JsonObject]] = []

    async def get(self, caller: None, ids: Ids, message: JsonObject) -> JsonObject:
        await self.gate.wait()
        self.served.append((ids, message))
        self.done.set()
        if self.error:
            raise self.error
        return OK


def operation(access: Access[None]) -> Operation[ScriptedProjects, None]:
    return Operation(
        name=NAME,
        http=Http("GET", "/{collectionId}/{projectId}"),
        rpc=Rpc(SERVICE),
        access=access,
        messages=Messages(None, "Empty", query=(Flag("status", "", default=True),)),
        docs=Docs("projects", "", ""),
        service=ServiceMethod(ScriptedProjects, ScriptedProjects.get),
    )


async def send(door: Any, body: bytes, path: str = PATH, **headers: str) -> httpx.Response:
    given = {"content-type": WEB, **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with client(door) as http:
        return await http.post(path, content=body, headers=given)


def request(**fields: Any) -> bytes:
    message: Message = json_format.ParseDict(fields, REQUEST())
    return message.SerializeToString()


async def asked(door: Door, body: bytes, path: str = PATH, **headers: str) -> Reply:
    return reply_of(await send(door, body, path, **headers))
