"""A gateway is told all that it is to pull, and that it is to pull nothing more."""

from __future__ import annotations

from pydantic import SecretStr
from tests.support.sources import gateway, source
from tests.support.worlds import NOW, SETTINGS

from onair_crds.contract.ingest_gateway import Pull, Pulls
from onair_crds.resources.source import Source
from onair_operator.cluster.actions import WantPulls
from onair_operator.gateway.observe import ObservedGateway
from onair_operator.gateway.plan import make_plan
from onair_operator.ingest.observed import Contact

URL = "rtmp://media.example/live/secret"
GATEWAYS = (gateway(), gateway("ingest-1"))
NOTHING = Pulls(pulls={})


def relay(name: str = "relay", url: str = URL, on: str = "ingest-0", **metadata: str) -> Source:
    return source({"rtmpPull": {"url": url}}, {"gateway": on}, name, **metadata)


def wanted(
    *pulled: Source, name: str = "ingest-0", known: Pulls | None = None, gateways=GATEWAYS
) -> list[Pulls]:
    plan = make_plan(ObservedGateway(name, gateways, pulled, known), NOW, SETTINGS)
    return [each.pulls for each in plan if isinstance(each, WantPulls)]


def test_it_pulls_what_is_assigned_to_it() -> None:
    here = Pulls(pulls={"pull-relay": Pull(url=SecretStr(URL))})
    assert wanted(relay(), relay("other", on="ingest-1")) == [here]
    assert wanted(relay(), known=here) == [], "nothing is new"


def test_a_source_that_is_gone_or_deleted_is_pulled_no_longer() -> None:
    here = Pulls(pulls={"pull-relay": Pull(url=SecretStr(URL))})
    assert wanted(known=here) == [NOTHING]
    assert wanted(relay(deletionTimestamp="2026-05-01T12:00:00Z"), known=here) == [NOTHING]


def test_one_that_is_unreachable_loses_its_pulls_to_another() -> None:
    gateways = (gateway(contact=Contact.UNREACHABLE), gateway("ingest-1"))
    assert wanted(relay(), gateways=gateways) == [NOTHING]
    moved = wanted(relay(), name="ingest-1", gateways=gateways)
    assert [each.pulls.keys() for each in moved] == [{"pull-relay"}]


def test_urls_are_not_printed() -> None:
    assert "secret" not in repr(wanted(relay()))
