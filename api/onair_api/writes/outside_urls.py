"""Refuses urls in specs that lead inside the installation, as far as their text says. Pure.

Whoever may write a project, source or destination has programs inside connect to its urls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onair_api.cache.watched_kinds import DESTINATION, PROJECT, SOURCE
from onair_api.errors import InvalidArgument, Violation
from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.shapes import JsonObject

URLS: dict[str, tuple[str, ...]] = {
    PROJECT: (
        "composition.studioSdk.rendererUrl",
        "composition.scene.rendererUrl",
        "composition.external.url",
    ),
    SOURCE: ("address.rtmpPull.url",),
    DESTINATION: ("address.rtmpPush.url", "address.srtPush.url", "address.objectStorage.endpoint"),
}
"""Fields of a kind's spec that programs inside connect to."""


def check_urls(kind: str, spec: JsonObject, before: JsonObject, rules: InsideRules) -> None:
    """Checks that no url of a spec leads inside.

    Args:
        before: the stored spec; what it has already was judged by who wrote it, or by other rules.

    Raises:
        InvalidArgument: names every url that leads inside, and the rule.
    """
    if wrong := list(_violations(kind, spec, before, rules)):
        raise InvalidArgument(*wrong)


def _violations(kind: str, spec: JsonObject, before: JsonObject, rules: InsideRules) -> Iterator[Violation]:
    for path in URLS.get(kind, ()):
        url = _at(spec, path)
        if isinstance(url, str) and url != _at(before, path) and (refusal := rules.refusal(url)):
            yield Violation(path, refusal)


def _at(spec: JsonObject, path: str) -> Any:
    value: Any = spec
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
