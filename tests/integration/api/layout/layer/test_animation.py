"""Animations of requests over HTTP."""

from __future__ import annotations

import pytest
from tests.support.layouts import PLAIN, LayoutClient


def test_animations_are_echoed_and_not_kept(canvas: LayoutClient) -> None:
    short = {"properties": ["x", "y"], "durationMs": 300.4}
    full = {
        "properties": ["*"],
        "durationMs": 30_000,
        "delayMs": 5,
        "easingMode": "cubic-bezier(0.1, .2, 1, -1)",
    }
    echoed = [{**short, "durationMs": 300, "delayMs": 0, "easingMode": "linear"}, full]
    sent = {"requestAnimation": [short, full], "requestMetadata": {"by": "test"}}
    made = canvas.add("text", **sent)
    assert made["requestAnimation"] == echoed
    assert made["requestMetadata"] == {"by": "test"}
    changed = canvas.patch(made["id"], x=5, **sent)
    assert (changed["requestAnimation"], changed["requestMetadata"]) == (echoed, {"by": "test"})
    read = canvas.layer(made["id"])
    assert read == {**PLAIN, "id": made["id"], "layoutId": canvas.id, "x": 5}
    assert canvas.delete(made["id"], {"requestMetadata": {"by": "test"}}) == {
        "id": made["id"],
        "layoutId": canvas.id,
        "requestMetadata": {"by": "test"},
    }


@pytest.mark.parametrize(
    "easing",
    [
        *("linear", "ease", "ease-in", "ease-out", "ease-in-out", "step-start", "step-end", "EASE"),
        *("steps(4)", "steps( 4, jump-end )", "cubic-bezier(.25,.1,.25,1)", "linear(0, 0.5 25% 75%, 1)"),
    ],
)
def test_every_css_easing_is_taken(canvas: LayoutClient, easing: str) -> None:
    animation = {"properties": ["scale"], "durationMs": 1, "easingMode": easing}
    assert canvas.patch(canvas.root(), requestAnimation=[animation])["requestAnimation"] == [
        {**animation, "delayMs": 0}
    ]
