"""Layouts as the operator keeps them: compressed, as most are of shows that are not on air. Pure."""

from __future__ import annotations

import json
import zlib

from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

CONTENT = "content"
SIZE = "size"
"""Bytes of JSON, about, with the defaults of all layers."""
DEFAULTS_OF_A_LAYER = 160
FAST = 1


def compressed(layout: Document) -> Document:
    """The object with what is looked at often, and the rest of its spec compressed."""
    spec = layout.get("spec") or {}
    text = json.dumps(spec, separators=(",", ":")).encode()
    return {
        "metadata": layout["metadata"],
        "spec": {
            "projectId": spec.get("projectId"),
            "type": spec.get("type"),
            SIZE: len(text) + DEFAULTS_OF_A_LAYER * len(spec.get("layers") or ()),
            CONTENT: zlib.compress(text, FAST),
        },
    }


def content(entry: Entry) -> Document:
    """The whole spec of a layout that is kept so."""
    spec: Document = json.loads(zlib.decompress(entry.spec[CONTENT]))
    return spec
