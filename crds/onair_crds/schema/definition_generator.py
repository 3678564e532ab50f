"""Structural schemas of the custom resources, generated from the models.

A structural schema is stricter than JSON Schema: no `$ref`, no `title`, no
`anyOf` with null (absent is the only null), `const` as an `enum` of one, and
exclusive bounds in OpenAPI v3 form.
"""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from onair_crds.resources.base import GROUP, VERSION, Resource, Rule, SpecModel
from onair_crds.schema.explained_bounds import with_explained_bounds
from onair_crds.shapes import Document, JsonSchema

_DROPPED = ("title", "additionalProperties", "$defs", "multipleOf")


class StructuralSchema(GenerateJsonSchema):
    """Makes optional fields absent rather than null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        generated = super().default_schema(schema)
        if generated.get("default", ...) in (None, [], {}):
            generated.pop("default", None)
        return generated


def structural_schema(model: type[SpecModel]) -> JsonSchema:
    """The OpenAPI v3 schema of one model, all references inlined."""
    schema = model.model_json_schema(schema_generator=StructuralSchema, by_alias=True, mode="validation")
    models = {m.__name__: m for m in _reachable(model)}
    return _structural(schema, schema.get("$defs", {}), models, model.__name__)


def _reachable(model: type[SpecModel]) -> list[type[SpecModel]]:
    found: dict[str, type[SpecModel]] = {}
    todo = [model]
    while todo:
        current = todo.pop()
        if current.__name__ in found:
            continue
        found[current.__name__] = current
        for field in current.model_fields.values():
            todo += _models_in(field.annotation)
    return list(found.values())


def _models_in(annotation: Any) -> list[type[SpecModel]]:
    if isinstance(annotation, type) and issubclass(annotation, SpecModel):
        return [annotation]
    return [m for arg in getattr(annotation, "__args__", ()) for m in _models_in(arg)]


def _structural(
    node: JsonSchema, defs: JsonSchema, models: dict[str, type[SpecModel]], name: str | None = None
) -> JsonSchema:
    node = dict(node)
    reference = node.pop("$ref", None)
    if reference:
        name = reference.rsplit("/", 1)[1]
        node = {**defs[name], **node}
    for key in _DROPPED:
        node.pop(key, None)
    _to_openapi(node)
    _require_bounds(node, name)
    if "properties" in node:
        node["properties"] = {k: _structural(v, defs, models) for k, v in node["properties"].items()}
    if isinstance(node.get("items"), dict):
        node["items"] = _structural(node["items"], defs, models)
    if name in models and models[name].rules:
        entries = [rule.schema_entry() for rule in models[name].rules]
        node["x-kubernetes-validations"] = node.get("x-kubernetes-validations", []) + entries
    return node


def _to_openapi(node: JsonSchema) -> None:
    if "properties" in node and "default" in node:
        node["default"] = {}  # the API server then fills in the defaults of the fields within
    if isinstance(node.get("description"), str):
        node["description"] = " ".join(node["description"].split())
    if "const" in node:
        node["enum"] = [node.pop("const")]
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if exclusive in node:
            node[bound], node[exclusive] = node[exclusive], True
    if node.get("type") == "integer":
        node["format"] = "int64"


def _require_bounds(node: JsonSchema, name: str | None) -> None:
    unbounded = {"string": "maxLength", "array": "maxItems"}.get(node.get("type", ""))
    if unbounded and unbounded not in node and "enum" not in node:
        raise ValueError(f"{name}: without {unbounded} rules are too costly for the API server: {node}")


NAME_RULE = Rule(
    rule="size(self.metadata.name) <= 63",
    message="metadata.name must be at most 63 characters: it is the id of the interface",
)


def custom_resource_definition(kind: type[Resource], labels: dict[str, str] | None = None) -> Document:
    """The CustomResourceDefinition of one kind."""
    properties: JsonSchema = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": with_explained_bounds(structural_schema(kind.spec_model)),
    }
    version: Document = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "description": " ".join((kind.__doc__ or "").split()),
                "required": ["spec"],
                "x-kubernetes-validations": [NAME_RULE.schema_entry()],
                "properties": properties,
            }
        },
        "additionalPrinterColumns": [
            {"name": c.name, "type": c.type, "jsonPath": c.path, **({"priority": 1} if c.wide else {})}
            for c in kind.columns
        ],
    }
    if kind.status_model:
        properties["status"] = structural_schema(kind.status_model)
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}", **({"labels": labels} if labels else {})},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "shortNames": kind.short_names,
                "categories": ["onair"],
            },
            "versions": [version],
        },
    }
