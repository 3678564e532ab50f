"""Plans what a gateway pulls: the sources that are assigned to it, and nothing else. Pure."""

from __future__ import annotations

import datetime as dt

from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import Pull, Pulls, stream_of_pull
from onair_crds.resources.source import Source
from onair_operator.cluster.actions import Action, WantPulls
from onair_operator.gateway.observe import ObservedGateway
from onair_operator.ingest.assignment import points_inside, puller_of
from onair_operator.settings import OperatorSettings


def make_plan(observed: ObservedGateway, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Hands it what it is to pull, where that has changed."""
    inside = settings.ingest.pull_inside
    pulls = {
        stream_of_pull(each.name): Pull(url=SecretStr(url))
        for each in observed.pulled
        if (url := _url(each, inside))
        and puller_of(each.name, each.status.gateway, observed.gateways) == observed.name
    }
    wanted = Pulls(pulls=pulls)
    return [] if wanted == observed.wanted else [WantPulls(observed.name, wanted)]


def _url(source: Source, inside: bool) -> str | None:
    """Where a source is pulled from; None where it must not be."""
    pull = source.spec.address.rtmp_pull
    if pull is None or source.deleting or (points_inside(pull.url) and not inside):
        return None
    return pull.url
