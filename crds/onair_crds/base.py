"""What all resource models share: field naming, CEL rules, one-ofs, references."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel, to_snake

GROUP = "onair.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"

MAX_URL = 2048
MAX_ID = 63
MAX_TEXT = 1024


class SpecModel(BaseModel):
    """A part of a resource: camelCase outside, unknown fields dropped as the API server does."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        use_attribute_docstrings=True,
        frozen=True,
    )

    rules: ClassVar[list[Rule]] = []
    one_of: ClassVar[tuple[str, ...]] = ()
    """Keys of which exactly one must be given; an ordinary model has none."""

    @model_validator(mode="after")
    def _select_one(self) -> Self:
        if self.one_of:
            given = [key for key in self.one_of if getattr(self, to_snake(key)) is not None]
            if len(given) != 1:
                raise ValueError(f"exactly one of {', '.join(self.one_of)} must be given")
        return self

    def manifest(self) -> dict[str, Any]:
        """The part as it stands in a resource: JSON values, camelCase, absent for unset."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Rule(BaseModel):
    """A CEL validation rule of the generated schema (`x-kubernetes-validations`)."""

    rule: str
    message: str
    field_path: str | None = None

    def schema_entry(self) -> dict[str, str]:
        entry = {"rule": self.rule, "message": self.message}
        if self.field_path:
            entry["fieldPath"] = self.field_path
        return entry


def rules(*pairs: tuple[str, str]) -> dict[str, Any]:
    """`json_schema_extra` that carries CEL rules for one field: (rule, message) each."""
    return {"x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in pairs]}


IMMUTABLE = ("self == oldSelf", "cannot be changed")

AnyJson = Annotated[Any, WithJsonSchema({"x-kubernetes-preserve-unknown-fields": True})]

ResourceName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_ID,
        json_schema_extra=rules(
            (
                "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                "must be the name of a resource: lower-case letters, digits and '-', at most 63",
            )
        ),
    ),
]

ImmutableName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_ID,
        json_schema_extra=rules(
            (
                "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                "must be the name of a resource: lower-case letters, digits and '-', at most 63",
            ),
            IMMUTABLE,
        ),
    ),
]


def _scheme_of(*schemes: str) -> AfterValidator:
    def check(value: str) -> str:
        scheme, separator, rest = value.partition("://")
        if not separator or scheme.lower() not in schemes or not rest.strip("/"):
            raise ValueError(f"must be {_spoken(schemes)} URL")
        return value

    return AfterValidator(check)


def _spoken(schemes: tuple[str, ...]) -> str:
    article = "an" if schemes[0][0] in "aeiouhrs" else "a"
    return f"{article} " + ", ".join(schemes[:-1]) + (" or " if schemes[1:] else "") + schemes[-1]


_NO_USER = (
    "!self.matches('^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@')",
    "must hold no user name or password: a url is no place for secrets",
)


def _url(*schemes: str, media: bool = False) -> Any:
    listed = ", ".join(f"'{s}'" for s in schemes)
    rule = f"isURL(self) && url(self).getScheme() in [{listed}] && url(self).getHostname() != ''"
    shape = (rule, f"must be {_spoken(schemes)} URL")
    return Field(
        min_length=1,
        max_length=MAX_URL,
        json_schema_extra=rules(shape, _NO_USER) if media else rules(shape),
    )


def _no_user(value: str) -> str:
    if "@" in re.split("[/?#]", value.partition("://")[2], maxsplit=1)[0]:
        raise ValueError(_NO_USER[1])
    return value


HttpUrl = Annotated[str, _url("http", "https"), _scheme_of("http", "https")]
_NoUser = AfterValidator(_no_user)
PushUrl = Annotated[
    str, _url("rtmp", "rtmps", "srt", media=True), _scheme_of("rtmp", "rtmps", "srt"), _NoUser
]
SrtUrl = Annotated[str, _url("srt", media=True), _scheme_of("srt"), _NoUser]
PullUrl = Annotated[str, _url("rtmp", "rtmps", media=True), _scheme_of("rtmp", "rtmps"), _NoUser]


class SecretKeyRef(SpecModel):
    """One key of a Secret of type `onair.dev/credentials` in the same namespace."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name of the Secret."""
    key: Annotated[str, Field(min_length=1, max_length=253)]
    """Key within the Secret's data."""


class Condition(SpecModel):
    """A condition as `kstatus` and `kubectl wait` understand it."""

    type: Annotated[str, Field(max_length=64)]
    """Name of the condition, such as Ready."""
    status: Annotated[str, Field(max_length=16)]
    """True, False or Unknown."""
    reason: Annotated[str, Field(max_length=64)]
    """One word for programs, such as NoCapacity."""
    message: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    """One sentence for people: what is wrong and what to do."""
    last_transition_time: Annotated[str, Field(json_schema_extra={"format": "date-time"}, max_length=40)]
    """When the status of this condition last changed."""
    observed_generation: int | None = None
    """metadata.generation that the condition speaks of."""


class Status(SpecModel):
    observed_generation: int | None = None
    """metadata.generation that this status speaks of."""
    conditions: Annotated[
        list[Condition],
        Field(
            max_length=16,
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
    ] = []
    """What is true of the resource now; see the reasons in the reference."""


class PrinterColumn(BaseModel):
    """A column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"
    description: str = ""
    wide: bool = False


class Resource(BaseModel):
    """A custom resource: metadata as it came, spec and status typed.

    Subclasses narrow `spec` and `status` and set the class variables; the
    schema generator reads nothing else.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: ClassVar[str]
    plural: ClassVar[str]
    short_names: ClassVar[list[str]] = []
    columns: ClassVar[list[PrinterColumn]] = []
    spec_model: ClassVar[type[SpecModel]]
    status_model: ClassVar[type[SpecModel] | None] = None

    metadata: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.metadata["name"])

    @property
    def uid(self) -> str:
        return str(self.metadata["uid"])

    @property
    def generation(self) -> int:
        return int(self.metadata.get("generation", 0))

    @property
    def resource_version(self) -> str:
        return str(self.metadata["resourceVersion"])

    @property
    def deleting(self) -> bool:
        return bool(self.metadata.get("deletionTimestamp"))

    @property
    def finalizers(self) -> list[str]:
        return list(self.metadata.get("finalizers", []))

    @classmethod
    def document(cls, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
        """A manifest of this kind."""
        return {
            "apiVersion": API_VERSION,
            "kind": cls.kind,
            "metadata": {"name": name, **metadata},
            "spec": spec,
        }
