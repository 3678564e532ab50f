"""The rules that a stored resource breaks, as sentences for its owner. Pure."""

from __future__ import annotations

from pydantic import ValidationError

MOST_RULES = 3
"""That a message names."""


def broken_rules(error: ValidationError) -> str:
    """Fields and rules, without what was given: that may be a secret."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:MOST_RULES])
