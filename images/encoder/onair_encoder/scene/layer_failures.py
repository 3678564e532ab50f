"""What a page says of layers that it cannot show, made fit for statuses and logs. Pure."""

from __future__ import annotations

import re

from onair_crds.contract.program import MAX_FAILED_LAYERS, FailedLayer
from onair_crds.contract.scene import MAX_SAID_REASON, PageFailure

MAX_REASON = 200
# No scheme is longer: without a bound a text of letters and dots takes the square of its length
_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,20}://)(?:[^\s/?#]*@)?(?P<place>[^\s?#]*)(?:[?#]\S*)?", re.IGNORECASE
)
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\U0010ffff]+")


class FailedLayers:
    """The failures as a status reports them: made again only if those it is asked for differ."""

    def __init__(self) -> None:
        self._failures: list[PageFailure] = []
        self._selected_layout_id: str | None = None
        self._told: list[FailedLayer] = []

    def of(self, failures: list[PageFailure], selected_layout_id: str | None) -> list[FailedLayer]:
        """See `failed_layers`. A list of failures is never changed: what is said later is another list."""
        if failures is not self._failures or selected_layout_id != self._selected_layout_id:
            self._failures, self._selected_layout_id = failures, selected_layout_id
            self._told = failed_layers(failures, selected_layout_id)
        return self._told


def failed_layers(failures: list[PageFailure], selected_layout_id: str | None) -> list[FailedLayer]:
    """The failures, those on air first, in a stable order and at most as many as are reported by name."""

    def order(failure: PageFailure) -> tuple[bool, str, str]:
        return failure.layout_id != selected_layout_id, failure.layout_id, failure.layer_id

    # A page may say thousands, each with a long reason
    return [
        FailedLayer(
            layout=each.layout_id,
            layer=each.layer_id,
            reason=reason(each.reason),
            on_air=each.layout_id == selected_layout_id,
        )
        for each in sorted(failures, key=order)[:MAX_FAILED_LAYERS]
    ]


def reason(text: str) -> str:
    """The text in one short line; of addresses neither credentials nor queries, which may hold keys."""
    line = _UNPRINTABLE.sub(" ", text[:MAX_SAID_REASON])
    line = _ADDRESS.sub(r"\g<scheme>\g<place>", line).strip()
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"
