"""The two forms of messages, protobuf's binary one and proto JSON, for the library that speaks the protocols.

What arrives is parsed only once its caller is known, so that a stranger costs nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import orjson
from connectrpc.codec import Codec
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message

from onair_api.errors import InvalidArgument, Violation
from onair_api.rpc.json_form import fields_of, fill, json_of, known_json
from onair_api.rpc.list_bounds import UNBOUNDED, ListBounds
from onair_api.wire.depth import is_deeper_than
from onair_crds.runtime.steps import Steps, at_once, done
from onair_crds.shapes import JsonObject


@dataclass(frozen=True)
class Unparsed:
    """A request as it arrived."""

    data: bytes
    form: Form

    async def json(self, kind: type[Message], depth: int, bounds: ListBounds = UNBOUNDED) -> JsonObject:
        """The fields that it has, as services take them; others have their turns meanwhile.

        Args:
            depth: up to which JSON may be nested.
            bounds: of lists. Of one that is longer no more is there than shows it.

        Raises:
            InvalidArgument: it is no message of this kind.
        """
        return await done(self.form.json(self.data, kind, depth, bounds))


@dataclass(frozen=True)
class Encoded:
    """A response that is in the form of its stream already."""

    data: bytes


class Form(Codec[Message | Encoded, Unparsed], ABC):
    """One form of messages, as the library wants a codec; it leaves requests unparsed."""

    def encode(self, message: Message | Encoded) -> bytes:
        return message.data if isinstance(message, Encoded) else self.written(message)

    def decode(self, data: bytes | bytearray, message_class: type[Unparsed]) -> Unparsed:
        return message_class(bytes(data), self)

    @abstractmethod
    def written(self, message: Message) -> bytes: ...

    @abstractmethod
    def encoded(self, kind: type[Message], value: JsonObject) -> bytes:
        """A message with the fields of a response."""

    @abstractmethod
    def json(
        self, data: bytes, kind: type[Message], depth: int, bounds: ListBounds = UNBOUNDED
    ) -> Steps[JsonObject]:
        """The fields of a message."""


class BinaryForm(Form):
    """Protobuf's binary form."""

    def name(self) -> str:
        return "proto"

    def written(self, message: Message) -> bytes:
        return message.SerializeToString()

    def encoded(self, kind: type[Message], value: JsonObject) -> bytes:
        message = kind()
        fill(message, value)
        return self.written(message)

    def json(
        self, data: bytes, kind: type[Message], depth: int, bounds: ListBounds = UNBOUNDED
    ) -> Steps[JsonObject]:
        """Protobuf's parser follows a hundred levels, which are fewer than JSON may have."""
        try:
            message = kind.FromString(data)
        except DecodeError:  # whose text is of the library's inside
            name = kind.DESCRIPTOR.full_name
            raise InvalidArgument(Violation("", f"the message is no valid {name}")) from None
        return (yield from json_of(message, bounds))


class JsonForm(Form):
    """Proto JSON."""

    def name(self) -> str:
        return "json"

    def written(self, message: Message) -> bytes:
        return json_format.MessageToJson(message, indent=None).encode()

    def encoded(self, kind: type[Message], value: JsonObject) -> bytes:
        """Encodes a response without a detour by a message, as services have proto JSON.

        What the message has no field for is left out.
        """
        return orjson.dumps(at_once(known_json(fields_of(kind.DESCRIPTOR), value)))

    def json(
        self, data: bytes, kind: type[Message], depth: int, bounds: ListBounds = UNBOUNDED
    ) -> Steps[JsonObject]:
        try:
            value = orjson.loads(data or b"{}")
        except orjson.JSONDecodeError:
            raise InvalidArgument(Violation("", "the message is not valid JSON")) from None
        if not isinstance(value, dict):
            raise InvalidArgument(Violation("", "the message must be a JSON object"))
        if (yield from is_deeper_than(value, depth)):
            raise InvalidArgument(Violation("", f"the message is nested deeper than {depth} levels"))
        return (yield from known_json(fields_of(kind.DESCRIPTOR), value, bounds))


BINARY, JSON = BinaryForm(), JsonForm()


def form_of(content_type: str) -> Form:
    """The form of the messages of a request, and of its response."""
    return JSON if content_type.endswith("json") else BINARY
