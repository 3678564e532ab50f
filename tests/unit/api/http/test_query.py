"""Fields of the request message that come in the query."""

from __future__ import annotations

import pytest

from onair_api.errors import InvalidArgument
from onair_api.http.query import query_fields
from onair_api.operation import Filter, Flag
from onair_crds.shapes import JsonObject

PARAMETERS = (Flag("force", "Even so."), Flag("populate", "All.", default=True), Filter("type", {}))


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        (b"", {"force": False, "populate": True}),
        (b"force", {"force": True, "populate": True}),
        (b"force=true&populate=0", {"force": True, "populate": False}),
        (b"force=TRUE&force=false", {"force": False, "populate": True}),
        (b"type=&other=1", {"force": False, "populate": True, "type": ""}),
        (b"type=a%20b", {"force": False, "populate": True, "type": "a b"}),
    ],
)
def test_a_query_becomes_fields_with_their_defaults(query: bytes, fields: JsonObject) -> None:
    assert query_fields(PARAMETERS, query) == fields


def test_a_flag_that_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="force: must be true or false"):
        query_fields(PARAMETERS, b"force=2")
