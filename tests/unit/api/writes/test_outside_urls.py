"""Which urls of specs are refused, and when."""

from __future__ import annotations

import pytest

from onair_api.errors import InvalidArgument
from onair_api.writes.outside_urls import URLS, check_urls
from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.shapes import JsonObject

INSIDE, OUTSIDE = "http://169.254.169.254/latest", "http://a.example/"


def spec(path: str, url: str) -> JsonObject:
    *outer, last = path.split(".")
    value: JsonObject = {last: url}
    for part in reversed(outer):
        value = {part: value}
    return value


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, paths in URLS.items() for path in paths])
def test_a_url_that_leads_inside_is_refused_by_field_and_rule(kind: str, path: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        check_urls(kind, spec(path, INSIDE), {}, InsideRules())
    [violation] = refused.value.violations
    assert (violation.field, "`inside`" in violation.description) == (path, True)
    check_urls(kind, spec(path, OUTSIDE), {}, InsideRules())


def test_a_stored_url_does_not_stand_in_the_way_of_other_changes() -> None:
    before = spec("address.rtmpPush.url", INSIDE)
    check_urls("Destination", {**before, "enabled": False}, before, InsideRules())
    with pytest.raises(InvalidArgument):
        check_urls("Destination", spec("address.rtmpPush.url", f"{INSIDE}/x"), before, InsideRules())
