"""What helm is given for the images that there are."""

from __future__ import annotations

from onair_dev.cluster.chart import fingerprint, settings_for
from onair_dev.cluster.images import NAMES, ROOMS, Image

IMAGES = [Image(name, "0123456789ab", b"") for name in NAMES]
WITHOUT_ROOMS = [each for each in IMAGES if each.name != ROOMS]
NO_ROOMS = "rooms.enabled=false"


def test_the_chart_has_no_rooms_where_their_server_was_not_built() -> None:
    assert NO_ROOMS in settings_for(WITHOUT_ROOMS)
    assert NO_ROOMS not in settings_for(IMAGES)


def test_a_room_server_that_was_built_since_is_installed() -> None:
    assert fingerprint(WITHOUT_ROOMS) != fingerprint(IMAGES)
