"""The OpenAPI document."""

from __future__ import annotations

import re
from typing import Any

from onair_api.event.stream.requests import KINDS
from onair_api.http.openapi import VERSIONS, document


def test_every_schema_reference_leads_somewhere() -> None:
    whole = document("https://onair.example")
    schemas = whole["components"]["schemas"]

    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else []
            return own + [r for value in node.values() for r in references(value)]
        return [r for item in node for r in references(item)] if isinstance(node, list) else []

    named = set(references(whole["paths"])) | set(references(schemas))
    assert named <= {*schemas, *whole["components"]["responses"]}
    assert "keySecretRef" not in str(schemas)


def test_each_interface_has_a_document_of_its_own_version() -> None:
    versions = {}
    for interface in VERSIONS:
        part = document("https://onair.example", interface)
        versions[interface] = part["info"]["version"]
        assert all(path.startswith((f"/{interface}/v2/", "/r/")) for path in part["paths"])
        text = str(part)
        assert set(part["components"]["schemas"]) >= {
            name.rpartition("/")[2] for name in re.findall(r"#/components/schemas/\w+", text)
        }
    assert versions == {"live": "2.1", "layout": "2.0", "event": "2.0"}
    whole = document("https://onair.example")
    assert whole["info"]["version"] == "2.1"
    parts = [document("https://onair.example", interface)["paths"] for interface in VERSIONS]
    assert sorted(path for part in parts for path in part) == sorted(whole["paths"])


def test_types_of_the_layout_interface_have_its_version_in_their_names() -> None:
    schemas = document("https://onair.example", "layout")["components"]["schemas"]
    assert {"v2LayoutType", "v2Transition", "v2RequestAnimationMode", "v2Layout", "v2Layer"} <= set(schemas)
    assert "LAYOUT_TYPE_SCENE" in schemas["v2LayoutType"]["enum"]


def test_the_stream_has_its_parameters_and_messages() -> None:
    part = document("https://onair.example", "event")
    stream = part["paths"]["/event/v2/stream"]["get"]
    targets = {
        f"{kind}.target.{level}Id" for kind in KINDS[:3] for level in ("collection", "project", "layout")
    }
    names = {f"{kind}.name" for kind in KINDS[:3]}
    found = {each["name"] for each in stream["parameters"]}
    assert found == names | targets | {"correlationId", "ping", "sessionid", "access_token"}
    assert set(stream["responses"]["200"]["content"]) == {"application/x-ndjson", "text/event-stream"}
    schemas = part["components"]["schemas"]
    assert {"StreamEventsRequest", "StreamEventsResponse", "StreamResult"} <= set(schemas)
    assert set(KINDS) <= set(schemas["StreamEventsRequest"]["properties"])
