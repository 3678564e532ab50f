"""A gateway is told all that it is to pull, and that it is to pull nothing more."""

from __future__ import annotations

from pydantic import SecretStr
from tests.support.worlds import NOW, SETTINGS

from onair_crds.contract.ingest_gateway import Pull, Pulls
from onair_operator.cluster.actions import WantPulls
from onair_operator.gateway.observe import ObservedGateway
from onair_operator.gateway.plan import make_plan

RELAY = {"pull-relay": Pull(url=SecretStr("rtmp://media.example/live/secret"))}


def test_it_pulls_what_is_assigned_to_it() -> None:
    wanted = WantPulls("ingest-0", Pulls(pulls=RELAY))
    assert make_plan(ObservedGateway("ingest-0", RELAY), NOW, SETTINGS) == [wanted]
    assert make_plan(ObservedGateway("ingest-0", RELAY, wanted.pulls), NOW, SETTINGS) == [], "nothing is new"


def test_it_is_told_to_pull_nothing_more() -> None:
    nothing = [WantPulls("ingest-0", Pulls(pulls={}))]
    assert make_plan(ObservedGateway("ingest-0", {}, Pulls(pulls=RELAY)), NOW, SETTINGS) == nothing
    assert make_plan(ObservedGateway("ingest-0"), NOW, SETTINGS) == nothing, "it may pull since before"


def test_urls_are_not_printed() -> None:
    assert "secret" not in repr(make_plan(ObservedGateway("ingest-0", RELAY), NOW, SETTINGS))
