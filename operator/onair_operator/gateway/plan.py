"""Plans what a gateway pulls: the sources that are assigned to it, and nothing else. Pure."""

from __future__ import annotations

import datetime as dt

from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import Pull, Pulls, stream_of_pull
from onair_operator.cluster.actions import Action, WantPulls
from onair_operator.gateway.observe import ObservedGateway
from onair_operator.ingest.assignment import puller_of
from onair_operator.settings import OperatorSettings


def make_plan(observed: ObservedGateway, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Hands it what it is to pull, where that has changed."""
    pulls = {
        stream_of_pull(each.name): Pull(url=SecretStr(pull.url))
        for each in observed.pulled
        if (pull := each.spec.address.rtmp_pull)
        and not each.deleting
        and puller_of(each.name, each.status.gateway, observed.gateways) == observed.name
    }
    wanted = Pulls(pulls=pulls)
    return [] if wanted == observed.wanted else [WantPulls(observed.name, wanted)]
