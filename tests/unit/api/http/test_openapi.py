"""The OpenAPI document."""

from __future__ import annotations

from typing import Any

from onair_api.http.openapi import document


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
