"""What a change may work on: all but what is free-form, which it replaces whole."""

from __future__ import annotations

import copy

from onair_api.wire.working_copy import working_copy
from onair_crds.shapes import JsonObject


def test_all_is_copied_but_what_is_free_form() -> None:
    spec: JsonObject = {
        "metadata": {"a": [[]]},
        "sources": [{"sourceId": "s", "trigger": {"on": True}}, None],
        "layers": [{"id": "a", "data": {"b": 1}, "children": ["c"]}],
        "maxDuration": 5,
    }
    stored = copy.deepcopy(spec)
    copied = working_copy(spec)
    assert copied == stored
    assert copied["metadata"] is spec["metadata"]
    assert copied["layers"][0]["data"] is spec["layers"][0]["data"]
    copied["sources"][0]["trigger"]["on"] = False
    copied["sources"].pop()
    copied["layers"][0]["children"].append("d")
    copied["layers"][0]["data"] = copied["metadata"] = None
    assert spec == stored
