"""The base of all resource models: field naming, CEL rules, one-ofs, conditions, the resource itself."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel, to_snake

from onair_crds.shapes import Document, JsonSchema

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
        hide_input_in_errors=True,
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

    def manifest(self) -> Document:
        """The part as it is in a resource: JSON values, camelCase, absent for unset."""
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


def rules(*pairs: tuple[str, str]) -> JsonSchema:
    """`json_schema_extra` that carries CEL rules for one field: (rule, message) each."""
    return {"x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in pairs]}


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
    """What the operator has observed of a resource."""

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

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    kind: ClassVar[str]
    plural: ClassVar[str]
    short_names: ClassVar[list[str]] = []
    columns: ClassVar[list[PrinterColumn]] = []
    spec_model: ClassVar[type[SpecModel]]
    status_model: ClassVar[type[SpecModel] | None] = None

    metadata: Document

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
    def document(cls, name: str, spec: Document, **metadata: Any) -> Document:
        """A manifest of this kind."""
        return {
            "apiVersion": API_VERSION,
            "kind": cls.kind,
            "metadata": {"name": name, **metadata},
            "spec": spec,
        }
