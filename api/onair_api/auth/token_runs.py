"""Whether the run that a page's token is for, and ends with, is over. Pure."""

from __future__ import annotations

from onair_api.auth.verified_token import Verified
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import PROJECT
from onair_crds.contract.runs import was_used
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import BroadcastPhase

ON_THE_WAY = {phase.value for phase in BroadcastPhase if phase.active} | {BroadcastPhase.STOPPING.value}


def run_is_over(view: View, token: Verified) -> bool:
    """Whether a token is of a run that is known to have ended."""
    guest = token.identity.guest
    if guest is None or token.run is None:
        return False
    project = view.entry(PROJECT, guest.project_id)
    return project is not None and project.uid == guest.project_uid and is_over(project, token.run)


def is_over(project: Entry, run: str) -> bool:
    """Whether a run is known to have ended. One that is not known yet may have begun a moment ago."""
    status = project.status
    present = status.get("broadcast") or {}
    if present.get("id") == run:
        return present.get("phase") not in ON_THE_WAY
    return (status.get("previous") or {}).get("id") == run or was_used(run, status.get("used") or ())
