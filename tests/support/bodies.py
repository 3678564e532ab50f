"""Arbitrary request bodies, as strategies of hypothesis."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from onair_api.wire.message import FieldKind, Message
from onair_crds.shapes import JsonObject

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


def path_names(message: Message) -> list[str]:
    found = []
    for field in message.fields.values():
        found.append(field.name)
        if field.kind is FieldKind.MESSAGE and field.message:
            found += [f"{field.name}.{name}" for name in path_names(field.message)]
    return found


def bodies(message: Message) -> st.SearchStrategy[JsonObject]:
    """Bodies that have the right shape here and anything there."""
    return st.fixed_dictionaries(
        {},
        optional={
            field.name: (bodies(field.message) | json_values if field.message else json_values)
            for field in message.fields.values()
        },
    )


# Building such a large strategy takes a second, which is no sign of slow tests.
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
