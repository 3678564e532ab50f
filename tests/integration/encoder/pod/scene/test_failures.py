"""A layer that cannot be shown is told in the project's status, and the rest of the picture stays.

With `debug` it is told over the picture, too.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.media.live_view import LiveView, Pixels
from tests.support.pages import responding, site
from tests.support.scene import media
from tests.support.scene.on_air import OnAir, square
from tests.support.waiting import wait_for

pytestmark = pytest.mark.media

BLUE, PINK = (0, 0, 160), (208, 0, 208)
COLOUR, SIZE, AWAY_S = 4, (160, 90), 20.0


def shows(pixels: Pixels, colour: tuple[int, int, int]) -> bool:
    """Within the picture's box; the ground is blue everywhere else."""
    inner, outer = pixels[5:85, 5:155].astype(int), pixels[100:, 200:].astype(int)
    return bool(max(np.abs(inner - colour).max(), np.abs(outer - BLUE).max()) <= COLOUR)


def words_over(pixels: Pixels) -> list[bool]:
    """Whether each of the first lines over the picture has words."""
    lines = (pixels[y : y + 14, 14:240].min(axis=2) for y in (15, 32, 49))
    return [bool((each > 150).any()) for each in lines]


def page_loads(air: OnAir) -> int:
    return air.pod.logs(air.pod.container("browser")).count("page.loaded")


def test_it_is_told_which_and_why_until_it_is_shown(air: OnAir, view: LiveView) -> None:
    def told() -> tuple[str, str]:
        """Status and message of the condition."""
        found = [each for each in air.status().get("conditions", []) if each["type"] == "LayerFailed"]
        return (found[0]["status"], found[0]["message"]) if found else ("False", "")

    with (
        responding(lambda _: (404, ""), **{"Access-Control-Allow-Origin": "*"}) as missing,
        site({"/pink.png": ("image/png", media.png(*SIZE, PINK))}) as there,
    ):
        picture = {"type": "image", "data": {"media": {"url": f"{missing}pink.png"}}}
        with air.showing(view, ground=square(BLUE), picture=picture) as scene:
            wait_for(lambda: told()[0] == "True", "the condition", AWAY_S, state=air.status)
            assert scene.ids["picture"] in told()[1]
            assert "HTTP 404" in told()[1]
            view.until("the rest of the picture", lambda pixels: shows(pixels, BLUE))
            loads = page_loads(air)
            air.compose({"scene": {"selectedLayoutId": scene.id, "debug": True}})
            view.until("the layout, and why", lambda pixels: words_over(pixels) == [True, True, False])
            air.compose({"scene": {"selectedLayoutId": scene.id}})
            view.until("the picture alone", lambda pixels: shows(pixels, BLUE))
            assert page_loads(air) == loads, "the page is told while it runs"
            scene.patch("picture", data={"media": {"url": f"{there}/pink.png"}})
            view.until("the layer", lambda pixels: shows(pixels, PINK))
            wait_for(lambda: told()[0] == "False", "nothing is told any more", AWAY_S, state=air.status)
