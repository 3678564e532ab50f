"""Destinations that the encoder cannot read are reported, and the others are delivered to."""

from __future__ import annotations

from onair_crds.contract.program import DestinationState, ProgramDestination, UnreadableDestination
from onair_crds.resources.enums import ConnectState
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.delivery import Delivery

PUSH = ProgramDestination(id="push", type="RTMP", url="rtmp://127.0.0.1:1/live")
NEWER = UnreadableDestination(id="newer", generation=4, error="not understood")


def state_of(delivery: Delivery, id_: str) -> DestinationState:
    (state,) = [each for each in delivery.states if each.id == id_]
    return state


async def test_it_is_reported_as_not_connected_since_it_is_wanted_and_why() -> None:
    delivery = Delivery(FanOut(), lambda: None)
    delivery.want([PUSH], None, [NEWER])
    first = state_of(delivery, "newer")
    assert (first.connect, first.last_error, first.generation) == (
        ConnectState.DISCONNECTED,
        "not understood",
        4,
    )
    assert [each.wanted.id for each in delivery.destinations] == ["push"]
    delivery.want([PUSH], None, [NEWER])
    assert state_of(delivery, "newer") is first
    delivery.want([PUSH], None, [NEWER.model_copy(update={"generation": 5})])
    assert state_of(delivery, "newer").generation == 5
    delivery.want([PUSH])
    assert [each.id for each in delivery.states] == ["push"]
    await delivery.close()


async def test_one_that_goes_on_as_it_was_is_reported_once() -> None:
    delivery = Delivery(FanOut(), lambda: None)
    delivery.want([PUSH], None, [UnreadableDestination(id="push", generation=0, error="not understood")])
    (state,) = delivery.states
    assert (state.id, state.last_error) == ("push", None)
    await delivery.close()
