"""Errors name what is wrong, and stay small."""

from __future__ import annotations

from onair_api.errors import MAX_VIOLATIONS, InvalidArgument, Violation


def wrong(count: int) -> InvalidArgument:
    return InvalidArgument(*(Violation(f"children[{i}]", "must be a string") for i in range(count)))


def test_an_error_names_every_wrong_field() -> None:
    error = wrong(MAX_VIOLATIONS)
    assert error.message.count("must be a string") == MAX_VIOLATIONS
    assert error.message.endswith("children[99]: must be a string")
    assert len(error.details[0]["fieldViolations"]) == MAX_VIOLATIONS


def test_an_error_names_the_first_of_very_many_wrong_fields() -> None:
    error = wrong(520_000)
    assert error.message.startswith("children[0]: must be a string; ")
    assert error.message.endswith("children[99]: must be a string; and at least 519900 more")
    assert [each["field"] for each in error.details[0]["fieldViolations"]] == [
        f"children[{i}]" for i in range(MAX_VIOLATIONS)
    ]
