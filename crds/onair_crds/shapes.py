"""Names for JSON objects, by what they hold. Only types: nothing is checked here."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
"""A Kubernetes object, or a part of one, as the API server writes it."""

JsonPatch = list[dict[str, Any]]
"""Operations of a JSON patch (RFC 6902)."""

JsonObject = dict[str, Any]
"""A request, a response or an event of the HTTP interface, camelCase, or a part of one."""

JsonSchema = dict[str, Any]
"""A JSON Schema or a part of an OpenAPI document."""

Claims = dict[str, Any]
"""The claims of a JSON Web Token (RFC 7519)."""
