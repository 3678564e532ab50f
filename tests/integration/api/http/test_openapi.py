"""The served OpenAPI document describes every operation, and its examples work."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.support.facade import FacadeThread, User
from tests.support.layouts import scene
from tests.support.operations import TOKEN_OPERATIONS

from onair_api.layout.operations import EXAMPLE

EXAMPLE_PROJECT = str(EXAMPLE["projectId"])


def test_the_document_describes_every_operation(facade: FacadeThread) -> None:
    document = facade.http.get("/openapi.json").json()
    operations = {
        op["operationId"]: op
        for path in document["paths"].values()
        for op in path.values()
        if "operationId" in op
    }
    assert set(operations) >= TOKEN_OPERATIONS
    for name, op in operations.items():
        assert op["summary"], name
        assert op["description"], name
        assert {"200", "302"} & set(op["responses"]), name
        for reference in json.dumps(op).split('"$ref": "#/components/')[1:]:
            section, _, entry = reference.split('"')[0].partition("/")
            assert entry in document["components"][section], (name, entry)
    create = operations["CreateProject"]
    assert {"400", "401", "403", "404", "503"} <= set(create["responses"])
    assert create["requestBody"]["content"]["application/json"]["example"]


def test_the_examples_of_the_document_work(
    one: FacadeThread, host: User, api_key: str, sign_in: Callable[..., User]
) -> None:
    anna = host
    stolen = sign_in(facade=one)
    paths = one.http.get("/openapi.json").json()["paths"]
    show = anna.project()
    destination = show.destination()["destinationId"]
    source = anna.ok("POST", f"/collection/{show.collection}/source", {"address": {"rtmpPush": {}}})
    ids = {"{collectionId}": show.collection, "{projectId}": show.id, "{destinationId}": destination}
    canvas = scene(show)
    ids |= {
        "{layoutId}": canvas.id,
        "{layerId}": canvas.root(),
        EXAMPLE_PROJECT: show.id,
        "eyJ…": stolen.token,
    }
    ids |= {"{sourceId}": source["source"]["sourceId"], "show-of-anna": show.collection, "sunday": show.id}
    tried = 0
    for path, operations in paths.items():
        for method, op in operations.items():
            content = op.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" not in content:
                continue
            at, body = path, json.dumps(content["example"], ensure_ascii=False)
            for name, value in ids.items():
                at, body = at.replace(name, value), body.replace(f'"{name}"', f'"{value}"')
            response = anna.call(method.upper(), at, headers={"X-API-Key": api_key}, content=body)
            assert response.status_code == 200, (at, response.text)
            tried += 1
    assert tried >= 8
