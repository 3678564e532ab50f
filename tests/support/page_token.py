"""The operator's token of a page, as a test wants it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from onair_crds.contract.renderer_token import renderer_claims
from onair_crds.shapes import Claims


def page_claims(issued: float, **changes: Any) -> Claims:
    """Of epoch 2 of the run `run` of project `show`; `None` removes a claim."""
    claims = renderer_claims(
        issuer="onair",
        service_id="studio",
        collection="sunday",
        project="show",
        project_uid="uid-show",
        run="run",
        epoch=2,
        issued=dt.datetime.fromtimestamp(issued, dt.UTC),
    )
    return {name: value for name, value in {**claims, **changes}.items() if value is not None}
