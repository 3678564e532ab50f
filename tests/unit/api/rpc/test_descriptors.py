"""The `.proto` files beside the table of operations and the models: one interface, said twice."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor

from onair_api.operation import AnyOperation, ResponseKind, StreamOperation
from onair_api.operations import OPERATIONS, schemas
from onair_api.rpc.descriptors import messages_of, methods
from onair_api.rpc.json_form import Field, fields_of
from onair_crds.shapes import JsonSchema

SCHEMAS = schemas()
CALLS = [each for each in OPERATIONS if not isinstance(each, StreamOperation)]

KNOWN = (
    "resourceVersion",  # an extra of events, which the public message has no number for
    "composition.studioRenderer",  # of newer clients; no resource has it yet
    "address.rtmpPush.streamId",  # one schema describes both kinds of push
    "address.srtPush.key",
)
"""Ends of the paths that differ."""
IN_TOKEN = {"direct", "exchange"}
"""Fields of a request for a guest that HTTP takes in another place as well."""

FREE = {"google.protobuf.Value", "google.protobuf.Struct", "google.protobuf.ListValue"}
TEXTS = {
    FieldDescriptor.CPPTYPE_STRING: {"string"},
    FieldDescriptor.CPPTYPE_BOOL: {"boolean"},
    FieldDescriptor.CPPTYPE_ENUM: {"string"},
    FieldDescriptor.CPPTYPE_DOUBLE: {"number", "integer"},
    FieldDescriptor.CPPTYPE_FLOAT: {"number"},
    FieldDescriptor.CPPTYPE_INT32: {"integer"},
    FieldDescriptor.CPPTYPE_UINT32: {"integer"},
}


def resolved(schema: JsonSchema) -> JsonSchema:
    while True:
        if "$ref" in schema:
            schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
        elif len(schema.get("allOf", ())) == 1:
            schema = schema["allOf"][0]
        else:
            return schema


def differences(fields: tuple[Field, ...], schema: JsonSchema, path: str = "") -> set[str]:
    """Fields that one has and the other has not, or has otherwise."""
    known = resolved(schema).get("properties", {})
    ours = {field.json_name: field for field in fields}
    found = {f"{path}{name}" for name in known.keys() ^ ours.keys()}
    for name in known.keys() & ours.keys():
        found |= difference(ours[name], resolved(known[name]), f"{path}{name}")
    return found


def difference(field: Field, schema: JsonSchema, path: str) -> set[str]:
    if field.repeated:
        if schema.get("type") != "array":
            return {path}
        schema = resolved(schema["items"])
    if field.message in FREE:
        return set()
    if field.message.startswith("google."):
        return set() if schema.get("type") == "string" else {path}
    if field.descriptor:
        return differences(fields_of(field.descriptor), schema, f"{path}.")
    if field.kind == FieldDescriptor.CPPTYPE_ENUM:
        return set() if set(schema.get("enum", ())) == set(field.numbers) else {path}
    types = schema.get("type")
    return set() if set(types if isinstance(types, list) else [types]) & TEXTS[field.kind] else {path}


def body_fields(operation: AnyOperation) -> tuple[Field, ...]:
    """The fields of the RPC request without the ids: what the services get."""
    request, _ = messages_of(operation.rpc.service, operation.rpc.method or operation.name)
    fields = fields_of(request.DESCRIPTOR)
    if operation.rpc.body:
        (body,) = (each for each in fields if each.json_name == operation.rpc.body)
        assert body.descriptor
        return fields_of(body.descriptor)
    return tuple(each for each in fields if each.json_name not in operation.http.path_parameters)


@pytest.mark.parametrize("operation", CALLS, ids=lambda each: each.name)
def test_a_request_has_the_fields_that_http_has(operation: AnyOperation) -> None:
    query = {each.name: getattr(each, "schema", {"type": "boolean"}) for each in operation.messages.query}
    body = resolved(SCHEMAS[operation.messages.request]) if operation.messages.request else {}
    schema = {"properties": {**body.get("properties", {}), **query}}
    found = differences(body_fields(operation), schema)
    assert [path for path in found - IN_TOKEN if not path.endswith(KNOWN)] == []


@pytest.mark.parametrize("operation", CALLS, ids=lambda each: each.name)
def test_a_request_names_the_ids_that_are_in_the_path_over_http(operation: AnyOperation) -> None:
    request, _ = messages_of(operation.rpc.service, operation.rpc.method or operation.name)
    names = {each.json_name for each in fields_of(request.DESCRIPTOR)}
    assert set(operation.http.path_parameters) <= names


@pytest.mark.parametrize("operation", CALLS, ids=lambda each: each.name)
def test_a_response_has_the_fields_that_http_has(operation: AnyOperation) -> None:
    _, response = messages_of(operation.rpc.service, operation.rpc.method or operation.name)
    schema: Any = SCHEMAS[operation.messages.response]
    if operation.http.response is ResponseKind.LIST:
        schema = {"properties": {operation.rpc.items: schema, "nextPageToken": {"type": "string"}}}
    if operation.http.response is ResponseKind.IMAGE:
        schema = {"properties": {**schema["properties"], "image": {"type": "string"}}}
    found = differences(fields_of(response.DESCRIPTOR), schema)
    assert [path for path in found if not path.endswith(KNOWN)] == []


def test_every_method_is_an_operation_of_the_table() -> None:
    assert methods() == {(each.rpc.service, each.rpc.method or each.name) for each in OPERATIONS}
