"""Resources as HTTP shows them: a tree of fields, derived from the models themselves.

The interface and the resources differ in a few regular ways, all known here:
enumerations have a wire form, a secret is inline over HTTP and a reference in
the resource, and some fields have a default that the resource leaves out.
Decoding, encoding, masks and the OpenAPI schemas walk this tree, so none of
them knows a resource by name.
"""

from __future__ import annotations

import functools
import types
import typing
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Annotated, Any, Final

from pydantic.alias_generators import to_camel

from onair_crds.resources.base import SpecModel
from onair_crds.resources.destination import (
    DEFAULT_FILE_COUNT,
    DEFAULT_PLAYLIST_COUNT,
    DEFAULT_SEGMENT_DURATION_MS,
)
from onair_crds.resources.enums import WireEnum
from onair_crds.resources.values import SecretKeyRef
from onair_crds.schema.definition_generator import structural_schema
from onair_crds.shapes import JsonObject, JsonSchema

REFERENCE = "SecretRef"

DEFAULTS: dict[tuple[str, str], Any] = {
    ("ProjectSpec", "composition"): {"scene": {}},
    ("StudioSdkComposition", "version"): "latest",
    ("PushedSource", "enabled"): True,
    ("HlsPackaging", "segment_duration"): DEFAULT_SEGMENT_DURATION_MS,
    ("HlsLive", "playlist_count"): DEFAULT_PLAYLIST_COUNT,
    ("HlsLive", "file_count"): DEFAULT_FILE_COUNT,
    ("HlsVod", "max_duration"): 0,
    ("SwipeTransition", "direction"): "Left",
    ("SwipeTransition", "combined_animation"): "Combined",
}
"""Defaults of `operations.md` that are no defaults of the schema: a default inside a one-of would
make applying another member fail."""

WRITTEN_AS_STRING = {("RateControl", "target_bitrate")}
"""Integers that responses show as a string (`interface.md`)."""


class Absent:
    """The type of ABSENT."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()
"""A field that is not there, is null, or has the zero value of its enumeration: all mean the default."""


class FieldKind(Enum):
    """How a field's value is encoded."""

    MESSAGE = auto()
    LIST = auto()
    ENUM = auto()
    INTEGER = auto()
    NUMBER = auto()
    BOOLEAN = auto()
    STRING = auto()
    ANY = auto()


@dataclass(frozen=True)
class WireField:
    """One field as HTTP shows it."""

    name: str
    snake_name: str
    kind: FieldKind
    node: JsonSchema = field(repr=False)
    """The structural schema of the field: bounds, description."""
    default: Any = None
    """Value in the resource's form that stands for an absent one; None if there is no such."""
    required: bool = False
    secret: bool = False
    """Inline over HTTP, in a Secret named by `<name>SecretRef` in the resource."""
    as_string: bool = False
    message: Message | None = None
    """Of a MESSAGE."""
    enum: type[WireEnum] | None = None
    """Of an ENUM."""
    item: WireField | None = None
    """Of a LIST."""

    @property
    def reference(self) -> str:
        """Name of the field that holds the secret's reference in the resource."""
        return self.name + REFERENCE

    def given(self, body: JsonObject) -> Any:
        """The value that a body has for this field, in either spelling of proto JSON; ABSENT where none."""
        return body.get(self.name, body.get(self.snake_name, ABSENT))


@dataclass(frozen=True)
class Message:
    """An object as HTTP shows it."""

    name: str
    fields: dict[str, WireField]
    one_of: tuple[str, ...] = ()
    description: str = ""

    @functools.cached_property
    def by_spelling(self) -> dict[str, WireField]:
        """Fields by their name in lower case without underscores, for masks."""
        return {spelling(name): each for name, each in self.fields.items()}

    def only(self, *names: str) -> Message:
        """The same with only the named fields: what a request may set."""
        return Message(self.name, {n: self.fields[n] for n in names}, self.one_of, self.description)


def spelling(name: str) -> str:
    """One spelling for `maxDuration`, `max_duration` and `MAX_DURATION`."""
    return name.replace("_", "").lower()


@functools.cache
def message_of(model: type[SpecModel]) -> Message:
    """The tree of one model."""
    return _message(model, structural_schema(model))


def _message(model: type[SpecModel], node: JsonSchema) -> Message:
    fields = {}
    for snake_name, info in model.model_fields.items():
        annotation = _bare(info.annotation)
        if annotation is SecretKeyRef:
            continue
        name = info.alias or to_camel(snake_name)
        reference = model.model_fields.get(f"{snake_name}_secret_ref")
        default = None if info.is_required() else info.get_default(call_default_factory=True)
        fields[name] = _field(
            name,
            annotation,
            node["properties"][name],
            snake_name=snake_name,
            default=DEFAULTS.get((model.__name__, snake_name), _plain(default)),
            required=reference.is_required() if reference else info.is_required(),
            secret=reference is not None,
            as_string=(model.__name__, snake_name) in WRITTEN_AS_STRING,
        )
    return Message(model.__name__, fields, model.one_of, node.get("description", ""))


def _field(name: str, annotation: Any, node: JsonSchema, **rest: Any) -> WireField:
    make = functools.partial(WireField, name=name, node=node, **{"snake_name": name, **rest})
    if typing.get_origin(annotation) is list:
        item = _field(name, _bare(typing.get_args(annotation)[0]), node.get("items", {}))
        return make(kind=FieldKind.LIST, item=item)
    if isinstance(annotation, type) and issubclass(annotation, SpecModel):
        return make(kind=FieldKind.MESSAGE, message=_message(annotation, node))
    if isinstance(annotation, type) and issubclass(annotation, WireEnum):
        return make(kind=FieldKind.ENUM, enum=annotation)
    return make(kind=_SCALARS.get(annotation, FieldKind.ANY))


_SCALARS = {bool: FieldKind.BOOLEAN, int: FieldKind.INTEGER, float: FieldKind.NUMBER, str: FieldKind.STRING}


def _bare(annotation: Any) -> Any:
    """The type without `None` and without what `Annotated` adds."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (typing.Union, types.UnionType):
            annotation = next(a for a in typing.get_args(annotation) if a is not type(None))
        else:
            return annotation


def _plain(default: Any) -> Any:
    if isinstance(default, SpecModel):
        return default.manifest()
    return default.value if isinstance(default, Enum) else default
