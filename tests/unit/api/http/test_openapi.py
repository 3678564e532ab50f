"""The OpenAPI document."""

from __future__ import annotations

from typing import Any

from onair_api.live.schemas import live_schemas


def test_every_schema_reference_leads_somewhere() -> None:
    schemas = live_schemas()

    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else []
            return own + [r for value in node.values() for r in references(value)]
        return [r for item in node for r in references(item)] if isinstance(node, list) else []

    assert set(references(schemas)) <= set(schemas)
    assert "keySecretRef" not in str(schemas)
