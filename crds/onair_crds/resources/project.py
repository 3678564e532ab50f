"""Project: one show: what is rendered, how, where, and whether it is on air."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import MAX_ID, PrinterColumn, Resource, SpecModel, Status
from onair_crds.resources.base import rules as cel
from onair_crds.resources.composition import Composition
from onair_crds.resources.encoding import Encoding
from onair_crds.resources.enums import (
    BroadcastError,
    BroadcastPhase,
    BroadcastState,
    ConnectState,
    SourceTriggerAction,
)
from onair_crds.resources.rendering import Rendering
from onair_crds.resources.room import RoomStatus, RoomWanted
from onair_crds.resources.values import AnyJson, ImmutableName, ResourceName, Timestamp, read_unknown_as

DEFAULT_MAX_DURATION_MS = 172_800_000
MAX_MAX_DURATION_MS = 604_800_000
MAX_DRAINING_RUNS = 4
"""Ended runs that still store their recordings during the present one."""
MAX_USED_RUNS = 1000
"""Runs that a project remembers beyond its present and its last one: a daily show's of almost three years."""


class HostedWebRtc(SpecModel):
    """The WebRTC room that this installation hosts."""

    enabled: bool = True
    """Whether the project has a hosted WebRTC room."""


class WebRtc(SpecModel):
    """The WebRTC rooms of a project."""

    hosted: HostedWebRtc | None = None
    """A WebRTC room hosted by this installation."""


class Location(SpecModel):
    """A point on Earth; the show runs in the nearest region that has room."""

    latitude: Annotated[float, Field(ge=-90, le=90)]
    """Degrees north."""
    longitude: Annotated[float, Field(ge=-180, le=180)]
    """Degrees east."""


class SourceTrigger(SpecModel):
    """What the project does when the source starts or stops."""

    start: SourceTriggerAction = SourceTriggerAction.IGNORE
    """Or starts the broadcast when this source starts."""
    stop: SourceTriggerAction = SourceTriggerAction.IGNORE
    """Or stops the broadcast when this source stops."""


class ProjectSource(SpecModel):
    """A source that the project uses."""

    source_id: ResourceName
    """Name of a Source of the same collection."""
    trigger: SourceTrigger | None = None
    """What this source's start and stop do to the broadcast."""


RunId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=40,
        json_schema_extra=cel(
            (
                "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                "must be lower-case letters, digits and '-', at most 40",
            )
        ),
    ),
]


class BroadcastWanted(SpecModel):
    """Whether the show is wanted on air."""

    state: BroadcastState = BroadcastState.STOPPED
    """Running puts the show on air, Stopped ends it."""
    id: RunId | None = None
    """Names one run. A new id is a new run; the same id never runs twice. Absent: the operator
    makes one up, and a new run needs Stopped in between."""
    stopped: RunId | None = None
    """Id of the run that a stop over HTTP ended, or called off before it began: it is over whatever
    state says, so Running without an id is a new run."""


class ProjectSpec(SpecModel):
    """What is wanted of a project."""

    collection_id: ImmutableName
    """Collection that owns the project; cannot be changed."""
    metadata: AnyJson = None
    """Any JSON value of the caller's."""
    rendering: Rendering = Rendering()
    """The canvas that the composition is rendered on."""
    encoding: Encoding = Encoding()
    """How the programme is encoded, once for all destinations."""
    composition: Composition | None = None
    """How the video is produced. Absent means the scene compositor."""
    max_duration: Annotated[int, Field(ge=1, le=MAX_MAX_DURATION_MS)] = DEFAULT_MAX_DURATION_MS
    """A broadcast ends with the error DurationExceeded after this many milliseconds."""
    webrtc: WebRtc | None = None
    """The project's WebRTC room."""
    location: Location | None = None
    """Where the broadcast should run: near its sources and people."""
    sources: Annotated[
        list[ProjectSource],
        Field(
            max_length=100,
            json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["sourceId"]},
        ),
    ] = []
    """Live sources of the collection that take part in this project."""
    broadcast: BroadcastWanted = BroadcastWanted()
    """Whether the show is wanted on air."""
    room: RoomWanted = RoomWanted()
    """Whether the hosted WebRTC room is wanted open."""


class BroadcastStatus(SpecModel):
    """One run of the show."""

    id: Annotated[str, Field(max_length=40)]
    """Id of the run."""
    epoch: Annotated[int, Field(ge=0)] = 0
    """Counts the encoder pods of this run; an encoder of a lower epoch is refused."""
    phase: BroadcastPhase
    """Where the run is between its start and its archive."""
    requested: Timestamp | None = None
    """When the run was first seen to be wanted."""
    start: Timestamp | None = None
    """When the first frame was encoded."""
    stop: Timestamp | None = None
    """When the run had ended."""
    error: Annotated[
        BroadcastError | None, read_unknown_as(BroadcastError.INTERNAL, list(BroadcastError))
    ] = None
    """Why the run ended by itself."""
    region: Annotated[str, Field(max_length=63)] | None = None
    """Region of the encoder's node."""
    datacenter: Annotated[str, Field(max_length=63)] | None = None
    """Zone of the encoder's node."""
    encoder: Annotated[str, Field(max_length=64)] | None = None
    """uid of the encoder pod."""
    pod: Annotated[str, Field(max_length=253)] | None = None
    """Name of the encoder pod."""
    node: Annotated[str, Field(max_length=253)] | None = None
    """Node of the encoder pod."""
    claimed: Timestamp | None = None
    """When the present epoch began."""
    stop_requested: Timestamp | None = None
    """When the end of the run was requested."""
    drains: bool | None = None
    """Its encoder, which is stopping, was seen to store what waits of recordings."""
    losses: Annotated[int, Field(ge=0)] | None = None
    """Encoders lost since the run was last Running."""
    interruptions: Annotated[int, Field(ge=0)] | None = None
    """Encoders lost in a row that were Running, each after less than 5 minutes."""
    stop_observed: bool | None = None
    """A wanted Stopped was seen since this run began, so Running without an id means a new one."""
    started_by: Annotated[str, Field(max_length=MAX_ID)] | None = None
    """Source whose start trigger began the run; absent where spec.broadcast did."""
    running_observed: bool | None = None
    """A wanted Running was seen since a trigger began the run, so that Stopped ends it."""
    stopped_by: Annotated[str, Field(max_length=MAX_ID)] | None = None
    """Source whose stop trigger ended the run."""
    layout: Annotated[str, Field(max_length=MAX_ID)] | None = None
    """Layout that is drawn where the project selects none: its newest scene when the run began."""


class DestinationCounts(SpecModel):
    """How many destinations are connected."""

    connected: Annotated[int, Field(ge=0)]
    """Enabled destinations that media flows to."""
    total: Annotated[int, Field(ge=0)]
    """Enabled destinations."""
    summary: Annotated[str, Field(max_length=32)]
    """connected/total, for `kubectl get`."""


class TriggerState(SpecModel):
    """The state of a source that counted last for its trigger; the next other one is an edge."""

    source_id: Annotated[str, Field(max_length=MAX_ID)]
    """Name of the Source."""
    connect: ConnectState
    """Connected for long enough to start, or Disconnected for long enough to stop."""


class ProjectStatus(Status):
    """What the operator has observed of a project."""

    broadcast: BroadcastStatus | None = None
    """The current or last run."""
    previous: BroadcastStatus | None = None
    """The run before that, archived."""
    draining: Annotated[list[BroadcastStatus], Field(max_length=MAX_DRAINING_RUNS)] | None = None
    """Earlier runs whose encoders only store what waits of recordings, the oldest first."""
    used: Annotated[list[Annotated[str, Field(max_length=16)]], Field(max_length=MAX_USED_RUNS)] | None = None
    """Fingerprints of the ids of earlier runs, which never run again."""
    destinations: DestinationCounts | None = None
    """How many destinations are connected."""
    triggers: Annotated[list[TriggerState], Field(max_length=100)] | None = None
    """States of the sources that start or stop the broadcast."""
    trigger_start: Annotated[str, Field(max_length=MAX_ID)] | None = None
    """Source whose start trigger begins another run once the present one has ended."""
    trigger_run: Annotated[str, Field(max_length=40)] | None = None
    """Id of the run that triggerStart begins; as spec.broadcast.stopped it calls the start off."""
    state: Annotated[str, Field(max_length=128)] | None = None
    """What is on air and what is in trouble, in a few words for `kubectl get`."""
    on_air_since: Timestamp | None = None
    """When the present run went on air; absent while none is."""
    room: RoomStatus | None = None
    """The hosted WebRTC room."""


class Project(Resource):
    """One show. It is on air while spec.broadcast.state is Running."""

    kind = "Project"
    plural = "projects"
    short_names = ["show"]
    spec_model = ProjectSpec
    status_model = ProjectStatus
    columns = [
        PrinterColumn(name="Phase", path=".status.broadcast.phase"),
        PrinterColumn(name="State", path=".status.state"),
        PrinterColumn(name="Region", path=".status.broadcast.region"),
        PrinterColumn(name="Destinations", path=".status.destinations.summary"),
        PrinterColumn(name="Started", path=".status.onAirSince", type="date"),
        PrinterColumn(name="Ready", path=".status.conditions[?(@.type=='Ready')].status", wide=True),
        PrinterColumn(name="Encoder", path=".status.broadcast.pod", wide=True),
        PrinterColumn(name="Age", path=".metadata.creationTimestamp", type="date"),
    ]

    spec: ProjectSpec
    status: ProjectStatus = ProjectStatus()
