"""The operator's tokens of pages, signed by a key that the facade knows."""

from __future__ import annotations

import base64
import datetime as dt

from tests.support.facade import Show, StoredResources

from onair_crds.contract.labels import RENDERER_KEY_TYPE
from onair_crds.contract.renderer_token import PRIVATE_PEM, PUBLIC_PEM, RENDERER_KEY_SECRET, renderer_claims
from onair_operator.encoder.renderer_key import RendererKey


def renderer_key(resources: StoredResources) -> RendererKey:
    """The operator's key of the installation; made as the operator would, where there is none."""
    for secret in resources.secrets(resources.release):
        if secret["metadata"]["name"] == RENDERER_KEY_SECRET:
            return RendererKey.from_pem(base64.b64decode(secret["data"][PRIVATE_PEM]))
    key = RendererKey.generate()
    pems = {PRIVATE_PEM: key.private_pem(), PUBLIC_PEM: key.public_pem()}
    resources.add_secret(resources.release, RENDERER_KEY_SECRET, RENDERER_KEY_TYPE, pems)
    return key


def signed_page_token(resources: StoredResources, show: Show) -> str:
    """Of the run `run` of a show, epoch 1."""
    claims = renderer_claims(
        issuer="onair",
        service_id="studio",
        collection=show.collection,
        project=show.id,
        project_uid=resources.get("projects", show.id)["metadata"]["uid"],
        run="run",
        epoch=1,
        issued=dt.datetime.now(dt.UTC),
    )
    return renderer_key(resources).token(claims)
