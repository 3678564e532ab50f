"""The token that a composition page is opened with (`operations.md`, Composition pages). Pure.

The operator signs it, so that a start needs no facade, by a key of its own: the facade publishes the public
half, and accepts by it only tokens of role RENDERER and kind EXCHANGE. It is good for nothing but a refresh,
which gives a session token of an hour, as often as the page reloads, until the run is over.
"""

from __future__ import annotations

import datetime as dt
import uuid

from onair_crds.resources.enums import Role
from onair_crds.shapes import Claims

RENDERER_KEY_SECRET = "onair-renderer-signing"  # noqa: S105 - the name of a Secret
PRIVATE_PEM, PUBLIC_PEM = "private.pem", "public.pem"
"""Keys of that Secret; the facade reads only the second."""
DEFAULT_ISSUER = "onair"
KIND = "kind"
"""Claim of tokens that are not for a session yet."""
EXCHANGE = "exchange"
SESSION = "session"
"""Claim: life in seconds of each session token."""
FIRST_ISSUED = "auth_time"
"""Claim: when the first token of a chain of refreshes was issued."""
PROJECT_UID = "projectUid"
"""Claim of guests: uid of the project in `guestControl`."""
RUN = "run"
"""Claim: id of the run that the token is for."""
SESSION_S = 3600
LIFE = dt.timedelta(days=7)
"""As long as any token; no run is longer."""

_USERS = uuid.UUID("6b1f0a52-6f0e-5a5e-9a53-0d3c1c5f8f10")


def user_id(service_id: str, service_user_id: str, project: str = "") -> str:
    """A user's id in a service: a function of the ids that its backend gave, so it needs no storage.

    A guest never shares one with a backend's user: who issues the token picks its serviceUserId freely.

    Args:
        project: of a guest: the uid of the one project, or its id in tokens from before there was one.
    """
    name = f"{service_id}\n\n{project}\n{service_user_id}" if project else f"{service_id}\n{service_user_id}"
    return str(uuid.uuid5(_USERS, name))


def renderer_claims(
    *,
    issuer: str,
    service_id: str,
    collection: str,
    project: str,
    project_uid: str,
    run: str,
    epoch: int,
    issued: dt.datetime,
) -> Claims:
    """The claims of the page's token; the same for the same encoder of a run."""
    name = f"renderer-{epoch}"
    user = user_id(service_id, name, project_uid)
    began = int(issued.timestamp())
    role = Role.RENDERER.wire
    return {
        "iss": issuer,
        "sub": user,
        "iat": began,
        FIRST_ISSUED: began,
        "exp": began + int(LIFE.total_seconds()),
        "jti": str(uuid.uuid5(_USERS, f"{project_uid}\n{run}\n{epoch}")),
        KIND: EXCHANGE,
        SESSION: SESSION_S,
        RUN: run,
        "user": {
            "userId": user,
            "serviceUserId": name,
            "displayName": "Renderer",
            "serviceId": service_id,
            "trial": False,
            "demo": False,
        },
        "role": role,
        "scopes": [],
        "guestControl": {"collectionId": collection, "projectId": project, "role": role},
        PROJECT_UID: project_uid,
    }
