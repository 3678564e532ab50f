"""What a page says of layers that it cannot show, made fit for statuses and logs. Pure."""

from __future__ import annotations

import re

from onair_crds.contract.program import MAX_FAILED_LAYERS, FailedLayer
from onair_crds.contract.scene import PageFailure

MAX_REASON = 200
_ADDRESS = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)(?:[^\s/?#@]*@)?(?P<place>[^\s?#]*)(?:[?#]\S*)?", re.IGNORECASE
)
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\U0010ffff]+")


def failed_layers(failures: list[PageFailure], selected_layout_id: str | None) -> list[FailedLayer]:
    """The failures, those on air first, in a stable order and at most so many as are told by name."""
    told = [
        FailedLayer(
            layout=each.layout_id,
            layer=each.layer_id,
            reason=reason(each.reason),
            on_air=each.layout_id == selected_layout_id,
        )
        for each in failures
    ]
    return sorted(told, key=lambda each: (not each.on_air, each.layout, each.layer))[:MAX_FAILED_LAYERS]


def reason(text: str) -> str:
    """The text in one short line; of addresses neither credentials nor queries, which may hold keys."""
    line = _UNPRINTABLE.sub(" ", text[: 8 * MAX_REASON])
    line = _ADDRESS.sub(r"\g<scheme>\g<place>", line).strip()
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"
