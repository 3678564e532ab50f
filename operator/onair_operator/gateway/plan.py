"""Plans what a gateway pulls: the sources that are assigned to it, and nothing else. Pure."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.ingest_gateway import Pulls
from onair_operator.cluster.actions import Action, WantPulls
from onair_operator.gateway.observe import ObservedGateway
from onair_operator.settings import OperatorSettings


def make_plan(observed: ObservedGateway, now: dt.datetime, settings: OperatorSettings) -> list[Action]:
    """Hands it what it is to pull, if that has changed."""
    wanted = Pulls.model_construct(pulls=dict(observed.pulled))
    return [] if wanted == observed.wanted else [WantPulls(observed.name, wanted)]
