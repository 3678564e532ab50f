"""Tokens of composition pages, of the project and run that a page belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.renderer_token import renderer_claims
from onair_crds.contract.times import parse_time
from onair_crds.resources.project import Project
from onair_operator.encoder.renderer_key import RendererKey


@dataclass
class PageTokens:
    key: RendererKey | None
    """None as long as the Secret of it is unusable."""
    issuer: str
    """`iss` of access tokens, as the facade wants it."""

    def of(self, project: Project, service_id: str) -> str | None:
        """The token of the run's present encoder, the same ever after; None while there is no run, or no key.

        Args:
            service_id: of the collection's owner.
        """
        broadcast = project.status.broadcast
        if self.key is None or broadcast is None or not broadcast.phase.active or broadcast.claimed is None:
            return None
        return self.key.token(
            renderer_claims(
                issuer=self.issuer,
                service_id=service_id,
                collection=project.spec.collection_id,
                project=project.name,
                project_uid=project.uid,
                run=broadcast.id,
                epoch=broadcast.epoch,
                issued=parse_time(broadcast.claimed),
            )
        )
