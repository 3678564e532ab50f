"""Names, numbers and types of each field: what we send, the unmodified public SDK reads and sends back."""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from tests.support.sdk.public_sdk import script

from onair_api.rpc.descriptors import messages_of, methods
from onair_crds.shapes import JsonObject

PACKAGES = {"live.v21": "live", "apis.layout.v2": "layout", "apis.event.v2": "event"}
"""And the part of the SDK that has them."""
NAMED_OTHERWISE = {
    "DestinationRtcPlatformAddress": "DestinationAgoraPushAddress",
    "DestinationObjectStorageAddress": "S3StorageAddress",
    "rtcPlatform": "agora",
    "objectStorage": "s3Storage",
}
"""JSON and HTTP have our names; on the wire of RPC there are numbers alone."""
OBJECT_ACL = "OBJECT_ACL_", "S3ACL_"
OUR_TYPES = {
    "SourceVideo",
    "SourceAudio",
    "SourceMedia",
    "PushEndpoint",
    "GetSourceHlsPreviewRequest",
    "GetSourceHlsPreviewResponse",
    "RevokeIssuedAccessTokenRequest",
}
NEWER = {
    ("CreateWebRtcAccessTokenRequest", "participant_metadata"),
    ("Composition", "studio_renderer"),
    ("StudioRendererComposition", "renderer_url"),
    ("StudioRendererComposition", "version"),
    ("StudioRendererComposition", "active_scene_id"),
}
"""Of the public interface, and not known to this SDK."""
OURS_FROM = 10001
"""Fields that we add have numbers from here on."""
TEXT, NUMBER = "text", 7
Known = dict[str, Any] | None


@dataclass(frozen=True)
class Case:
    """One message with one field set."""

    message: Message
    field: FieldDescriptor
    value: int | None
    """The number of an enum's value."""

    @property
    def type(self) -> str:
        kind = self.message.DESCRIPTOR
        return kind.full_name.removeprefix(f"{kind.file.package}.").replace(".", "_")

    @property
    def name(self) -> str:
        return f"{self.type}.{self.field.name} = {self.field.number}"

    @property
    def is_ours(self) -> bool:
        return self.type in OUR_TYPES or self.field.number >= OURS_FROM

    @property
    def line(self) -> str:
        kind = self.message.DESCRIPTOR
        data = b64encode(self.message.SerializeToString()).decode()
        known_as = NAMED_OTHERWISE.get(self.type, self.type)
        return json.dumps({"module": PACKAGES[kind.file.package], "type": known_as, "bytes": data})

    def faults(self, known: Known) -> Iterator[str]:
        if known is None or not b64decode(known["sent"]):
            if not self.is_ours and (self.type, self.field.name) not in NEWER:
                yield f"{self.name} is unknown"
            return
        if self.is_ours:
            yield f"{self.name} is taken: {known['fields']}"
        elif type(self.message).FromString(b64decode(known["sent"])) != self.message:
            yield f"{self.name} comes back as another one: {known['fields']}"
        else:
            yield from self.named_otherwise(known["fields"])

    def named_otherwise(self, fields: JsonObject) -> Iterator[str]:
        found = fields.get(NAMED_OTHERWISE.get(self.field.json_name, self.field.json_name))
        if found is None:
            yield f"{self.name} has another name: {fields}"
        elif self.value is not None:
            assert self.field.enum_type
            ours = self.field.enum_type.values_by_number[self.value].name.replace(*OBJECT_ACL)
            if ours not in ([found] if isinstance(found, str) else found):
                yield f"{self.name}: {ours} is {found}"


def filled(kind: Descriptor) -> Iterator[Case]:
    """A message for each field, and each value of an enum."""
    for field in kind.fields:
        values = (
            [each.number for each in field.enum_type.values if each.number] if field.enum_type else [None]
        )
        for value in values:
            message = message_factory.GetMessageClass(kind)()
            _fill(message, field, value)
            yield Case(message, field, value)


def _fill(message: Message, field: FieldDescriptor, value: int | None) -> None:
    kind = field.message_type
    if kind and kind.GetOptions().map_entry:
        of_map = kind.fields_by_name["value"]
        assert of_map.message_type, "no other maps there are"
        getattr(message, field.name)["key"].SetInParent()
    elif kind and kind.full_name == "google.protobuf.Value":
        getattr(message, field.name).string_value = TEXT
    elif kind and field.is_repeated:
        getattr(message, field.name).add()
    elif kind:
        getattr(message, field.name).SetInParent()
    elif field.is_repeated:
        getattr(message, field.name).append(value or _scalar(field))
    else:
        setattr(message, field.name, value or _scalar(field))


def _scalar(field: FieldDescriptor) -> str | bytes | bool | int:
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return TEXT.encode() if field.type == FieldDescriptor.TYPE_BYTES else TEXT
    return True if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else NUMBER


def kinds() -> dict[str, Descriptor]:
    """All types of messages that a method's can hold."""
    found: dict[str, Descriptor] = {}
    open_ = [cast(Descriptor, each.DESCRIPTOR) for method in methods() for each in messages_of(*method)]
    while open_:
        kind = open_.pop()
        if kind.full_name in found or kind.file.package not in PACKAGES:
            continue
        found[kind.full_name] = kind
        open_ += [field.message_type for field in kind.fields if field.message_type]
    return {name: kind for name, kind in found.items() if not kind.GetOptions().map_entry}


@pytest.fixture(scope="module")
def understood() -> list[tuple[Case, Known]]:
    cases = [case for kind in kinds().values() for case in filled(kind)]
    done = subprocess.run(
        ["node", str(script("node", "messages.js"))],
        input="\n".join(case.line for case in cases),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return list(zip(cases, json.loads(done.stdout), strict=True))


def test_each_field_means_the_same_to_the_public_sdk(understood: list[tuple[Case, Known]]) -> None:
    assert len(understood) > 500
    assert not [fault for case, known in understood for fault in case.faults(known)]


def test_what_is_said_to_be_ours_or_newer_is(understood: list[tuple[Case, Known]]) -> None:
    unknown = {case.type for case, known in understood if known is None}
    assert unknown == OUR_TYPES | {"StudioRendererComposition"}
    newer = {
        (case.type, case.field.name)
        for case, known in understood
        if not case.is_ours and (known is None or not known["sent"])
    }
    assert newer == NEWER
