"""All that plans are made from: what each kind's `observe` may look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from onair_crds.kube.errors import ApiError, ApiUnreachable
from onair_crds.kube.store import Entry, Store
from onair_crds.resources.project import ProjectSpec
from onair_operator.cluster.background import Background
from onair_operator.cluster.claimed_streams import ClaimedStreams
from onair_operator.cluster.ingest_addresses import IngestAddresses
from onair_operator.cluster.ingest_pods import IngestPods
from onair_operator.cluster.node_leases import NodeLeases
from onair_operator.cluster.receiver import Receiver
from onair_operator.cluster.watched_kinds import POD, PROJECT
from onair_operator.encoder.fleet import Fleet
from onair_operator.encoder.page_tokens import PageTokens
from onair_operator.ingest.gateways import Gateways
from onair_operator.room.kept_rooms import KeptRooms
from onair_operator.room.providers import RtcProviders
from onair_operator.settings import RunQuotas

TOLD_AFTER = 3
"""Refusals in a row after which one that may pass by itself is reported."""
MAX_CUT_OFFS = 1000
"""At a time; all that ask at once share a request."""


@dataclass(frozen=True)
class PodRefusal:
    """The API server does not create an encoder pod, as for a quota, a policy or a failed webhook."""

    pod: str
    message: str
    final: bool = False
    """The namespace is being deleted."""
    quota: bool = False
    """There is no room for it next to other pods."""
    transient: bool = False
    """It may pass by itself within a moment."""
    unanswered: bool = False
    """There was no response in time."""
    times: int = 1
    """So many in a row."""

    @property
    def told(self) -> bool:
        """Whether it is worth a word to people."""
        return not self.transient or self.times >= TOLD_AFTER

    @classmethod
    def of(cls, pod: str, error: ApiError, before: PodRefusal | None) -> PodRefusal:
        """The refusal that an error is, after the one before it."""
        return cls(
            pod,
            error.message or error.reason or f"HTTP {error.status}",
            final=error.namespace_terminating,
            quota=error.quota_exceeded,
            transient=error.transient,
            unanswered=isinstance(error, ApiUnreachable),
            times=before.times + 1 if before and before.pod == pod else 1,
        )


@dataclass(frozen=True)
class World:
    """All that is known, of the cluster and of encoders, gateways and rooms."""

    store: Store
    fleet: Fleet
    nodes: NodeLeases
    rtc_providers: RtcProviders
    gateways: Gateways = field(default_factory=Gateways)
    rooms: KeptRooms = field(default_factory=KeptRooms)
    streams: ClaimedStreams = field(default_factory=ClaimedStreams)
    page_tokens: PageTokens | None = None
    ingest_addresses: IngestAddresses = field(default_factory=IngestAddresses)
    ingest_pods: IngestPods = field(default_factory=IngestPods)
    receivers: list[Receiver] = field(default_factory=list)
    """The built-in MediaMTX, if there is one."""
    refusals: dict[str, PodRefusal] = field(default_factory=dict)
    """The last one of each project whose present encoder has no pod for it, by the project's name."""
    creations: Background = field(default_factory=Background)
    """Of encoder pods, by the pod's name."""
    cut_offs: Background = field(default_factory=lambda: Background(MAX_CUT_OFFS))
    """Of publishers of whom the API server is asked before."""

    valid_specs: dict[str, ProjectSpec] = field(default_factory=dict)
    """The last one of each project that was as its rules say, by the project's uid."""

    run_quotas: RunQuotas = field(default_factory=RunQuotas)
    """Of runs that sources start."""
    beginning: set[str] = field(default_factory=set)
    """Names of the projects of which a run's first record is being written."""

    @contextmanager
    def begins(self, project: str | None) -> Iterator[None]:
        """Marks, in a context, that the first record of a run is being written; None: of none."""
        if project is None or project in self.beginning:
            yield
            return
        self.beginning.add(project)
        try:
            yield
        finally:
            self.beginning.discard(project)

    def forget(self, gone: Entry) -> None:
        """Parts with the encoder of a pod, and forgets what a project was, and was refused."""
        if gone.kind == POD:
            self.fleet.part(gone.uid)
        elif gone.kind == PROJECT:
            self.refusals.pop(gone.name, None)
            self.valid_specs.pop(gone.uid, None)
