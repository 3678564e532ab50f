"""One project and all that affects it, as one value: the input of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onair_crds.contract.program import ProgramSource
from onair_crds.resources.collection import Collection
from onair_crds.resources.destination import Destination
from onair_crds.resources.layout import Layout
from onair_crds.resources.project import BroadcastStatus, Project
from onair_crds.resources.source import SourceStatus
from onair_operator.cluster.receiver import Receiver
from onair_operator.cluster.world import PodRefusal
from onair_operator.destination.status import DeliveryState
from onair_operator.destination.stored_destination import StoredDestination
from onair_operator.encoder.observed import UNREACHABLE_AFTER_S, EncoderView, PodView
from onair_operator.ingest.shown_previews import ShownPreviews, ShownSource
from onair_operator.room.plan import KeptRoom, RoomServerAccess, RoomView
from onair_operator.room.providers import RtcProvider
from onair_operator.scene.observed import ObservedScene
from onair_operator.secret.observed import SecretView


@dataclass(frozen=True)
class NodeView:
    """Where a node is."""

    region: str | None
    zone: str | None


@dataclass(frozen=True)
class ObservedProject:
    """A project with all that affects it."""

    project: Project
    collection: Collection | None = None
    destinations: tuple[Destination, ...] = ()
    invalid_destinations: tuple[StoredDestination, ...] = ()
    """Those that are stored though they break a rule: an encoder that delivers to them continues."""
    layouts: tuple[Layout, ...] = ()
    """Only its metadata, as for the collection."""
    pods: tuple[PodView, ...] = ()
    certificates: Mapping[str, str] = field(default_factory=dict)
    """Of the pods' identities, PEM, by pod uid."""
    identities: Mapping[str, str] = field(default_factory=dict)
    """Uids of the identity Secrets of all its pods, those that are gone included, by name."""
    secrets: Mapping[str, SecretView] = field(default_factory=dict)
    """Those that the destinations refer to and those that were made for them, by name."""
    nodes: Mapping[str, NodeView] = field(default_factory=dict)
    regions: frozenset[str] | None = None
    """Regions that nodes have labels of; None if that was not looked up."""
    sandboxes: frozenset[str] | None = None
    """Labels of nodes that say that a seccomp profile of the browser is there; None likewise."""
    encoders: Mapping[str, EncoderView] = field(default_factory=dict)
    """Those that are followed, by pod uid."""
    dead_nodes: frozenset[str] = frozenset()
    """Nodes whose Lease has not been renewed while most others' were."""
    refusal: PodRefusal | None = None
    """Why its last encoder pod could not be created."""
    service_id: str = ""
    """Of the owner of its collection; empty while that is not there."""
    rtc_providers: Mapping[str, RtcProvider] = field(default_factory=dict)
    """By `appId`."""
    receivers: tuple[Receiver, ...] = ()
    """The built-in MediaMTX, if there is one."""
    trigger_sources: Mapping[str, SourceStatus] = field(default_factory=dict)
    """Of the sources of its collection that start or stop it, by name; one that is gone is not among them."""
    used_up: str | None = None
    """The quota of its owner that leaves no room for a run that a source is to start, as a sentence."""
    rooms_available: bool = False
    """There is a server of hosted rooms."""
    room_server: RoomServerAccess | None = None
    """That server, once its credentials are known."""
    room: RoomView | None = None
    """The project's room as it was seen last."""
    room_kept: KeptRoom | None = None
    """How it is being kept."""
    streams: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What is noted of what it publishes: fingerprints by destination."""
    rivals: Mapping[str, str] = field(default_factory=dict)
    """By destination: one of another project that publishes the same stream, as a phrase."""
    rivals_known_in_s: float = 0.0
    """When all rivals are known: 0 where they are."""
    invalid: str | None = None
    """The rules that the project breaks as it is stored; parts of its spec are as they were, or defaults."""
    defaulted: bool = False
    """Parts of its spec are defaults, as it is not known what they were."""
    previewed: tuple[ShownSource, ...] = ()
    """The sources of its collection that it has, that are connected, and that its room is to show."""
    shown: ShownPreviews | None = None
    """What its room is to show by now; None if nothing has been said of it."""
    program_sources: tuple[ProgramSource, ...] = ()
    """The sources of its collection that it shows, as far as it is known where they can be read."""

    sources_withheld: bool = False
    """Some of those cannot be read now: there is no secret to make tokens for their gateways with."""

    page_token: str | None = None
    """Of the present encoder's page."""
    scene: ObservedScene = field(default_factory=ObservedScene)
    """Its scenes, if it is one of scenes."""

    @property
    def broadcast(self) -> BroadcastStatus | None:
        return self.project.status.broadcast

    def claimed_pod(self, broadcast: BroadcastStatus) -> PodView | None:
        """The pod of this run and epoch: by uid once that is known, else by its name."""
        for pod in self.pods:
            if broadcast.encoder:
                if pod.uid == broadcast.encoder:
                    return pod
            elif pod.name == broadcast.pod:
                return pod
        return None

    def ending_pod(self, broadcast: BroadcastStatus) -> PodView | None:
        """The pod that is to end the run's streams: the claimed one, else the last whose encoder may respond.

        A process that leads since just now is in touch with none of them yet.
        """
        if claimed := self.claimed_pod(broadcast):
            return claimed
        of_this_run = [pod for pod in self.pods if pod.broadcast == broadcast.id and not self.over(pod)]
        return max(filter(self.may_respond, of_this_run), key=lambda pod: pod.epoch, default=None)

    def may_respond(self, pod: PodView) -> bool:
        """Whether the pod's encoder responds, has only just fallen silent, or is yet to report."""
        encoder = self.encoders.get(pod.uid)
        return encoder.silent_s < UNREACHABLE_AFTER_S if encoder else self.awaited(pod)

    def awaited(self, pod: PodView) -> bool:
        """Whether the pod's encoder is yet to report to this process, which may lead since just now."""
        encoder = self.encoders.get(pod.uid)
        return encoder.awaited if encoder else pod.ip is not None and pod.uid in self.certificates

    def encoder_of(self, broadcast: BroadcastStatus) -> EncoderView | None:
        """The encoder of this run's present epoch, once it has reported."""
        view = self.encoders.get(broadcast.encoder or "")
        if view and view.status and view.status.epoch > broadcast.epoch:
            return None
        return view

    def over(self, pod: PodView) -> bool:
        """Whether the pod's encoder publishes nothing any more and never will."""
        encoder = self.encoders.get(pod.uid)
        return pod.over or (encoder is not None and encoder.over)

    def delivery(self, destination: str, broadcast: BroadcastStatus | None) -> DeliveryState:
        """The state of one destination in this broadcast."""
        if broadcast is None:
            return DeliveryState(on_air=False)
        before = self.broadcast
        ended = before is not None and before.id == broadcast.id and not broadcast.phase.active
        # The record of a run that ends names no encoder any more, whose last word is of what is missing.
        encoder = self.encoder_of(before if before and ended else broadcast)
        states = []
        if encoder and encoder.status and encoder.status.broadcast == broadcast.id:
            states = encoder.status.destinations
        state = next((state for state in states if state.id == destination), None)
        missing_s = state.missing_s if state else None
        if not broadcast.phase.active:
            return DeliveryState(on_air=False, missing_s=missing_s, several_encoders=broadcast.epoch > 1)
        pod = self.claimed_pod(broadcast)
        had_one = broadcast.epoch > 1 or broadcast.encoder is not None
        return DeliveryState(
            on_air=True,
            state=state,
            encoder_gone=pod.gone if pod else had_one,
            missing_s=missing_s,
            several_encoders=broadcast.epoch > 1,
        )
