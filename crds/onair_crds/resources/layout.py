"""Layout: a canvas with its layers, for the scene compositor. One resource, so that a batch is one write."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import MAX_ID, PrinterColumn, Resource, Rule, SpecModel
from onair_crds.resources.base import rules as cel
from onair_crds.resources.enums import LayoutType, TransitionDirection, TransitionSwipeType
from onair_crds.resources.values import AnyJson, HttpUrl, ImmutableName

MAX_LAYERS = 500

LayerId = Annotated[str, Field(min_length=1, max_length=MAX_ID)]
Pixels = Annotated[int, Field(ge=-10_000, le=10_000)]
Extent = Annotated[int, Field(ge=0, le=10_000)]
DurationMs = Annotated[int, Field(ge=0, le=30_000)]


class CutTransition(SpecModel):
    """Replaces the scene at once."""


class CrossfadeTransition(SpecModel):
    """Fades one scene into the other."""

    duration_ms: DurationMs
    """Length in milliseconds."""


class FadeToColorTransition(SpecModel):
    """Fades to a colour, and from it to the new scene."""

    duration_ms: DurationMs
    """Length in milliseconds; half of it on the way to the colour."""
    background_color: Annotated[str, Field(max_length=64)]
    """CSS colour."""


class SwipeTransition(SpecModel):
    """Moves a scene in, out, or both."""

    duration_ms: DurationMs
    """Length in milliseconds."""
    direction: TransitionDirection | None = None
    """Where the image moves to. Default Left."""
    combined_animation: TransitionSwipeType | None = None
    """Which of the two images moves. Default Combined."""


class StingerMedia(SpecModel):
    """The video that a stinger plays."""

    url: HttpUrl
    """Video with transparency."""
    volume: Annotated[float, Field(ge=0, le=1)] | None = None
    """Loudness; 1 is as recorded."""


class StingerCut(SpecModel):
    """A cut that a video covers."""

    cut_point_ms: DurationMs
    """When the layout switches, in milliseconds of the media."""
    media: StingerMedia
    """What plays over the switch."""


class StingerTransition(SpecModel):
    """Plays a video over a cut."""

    cut: StingerCut


class Transition(SpecModel):
    """How this scene replaces another; exactly one key besides fromLayoutIds."""

    one_of = ("cut", "crossfade", "fadeToColor", "swipe", "stinger")
    rules = [
        Rule(
            rule="[has(self.cut), has(self.crossfade), has(self.fadeToColor), has(self.swipe),"
            " has(self.stinger)].exists_one(x, x)",
            message="exactly one of cut, crossfade, fadeToColor, swipe, stinger must be given",
        )
    ]

    from_layout_ids: Annotated[list[LayerId], Field(max_length=64)] = []
    """Layouts that this transition comes from; none means any other."""
    cut: CutTransition | None = None
    crossfade: CrossfadeTransition | None = None
    fade_to_color: FadeToColorTransition | None = None
    swipe: SwipeTransition | None = None
    stinger: StingerTransition | None = None


class Layer(SpecModel):
    """A positioned visual element."""

    id: LayerId
    """Id within the layout."""
    type: Annotated[str, Field(min_length=1, max_length=128)]
    """What the renderer draws: image, video, source, webrtc, webpage, square, text, root …"""
    data: AnyJson = None
    """What the type needs; an object."""
    x: Pixels | None = None
    """Left edge in pixels; absent: no absolute position."""
    y: Pixels | None = None
    """Top edge in pixels; absent: no absolute position."""
    width: Extent | None = None
    """Width in pixels; absent: dynamic."""
    height: Extent | None = None
    """Height in pixels; absent: dynamic."""
    rotation: Annotated[float, Field(ge=-360, le=360)] = 0
    """Degrees clockwise."""
    opacity: Annotated[float, Field(ge=0, le=1)] = 1
    """0 is transparent, 1 is opaque."""
    scale: Annotated[float, Field(ge=0, le=4)] = 1
    """Exponential; 1 is normal size."""
    hidden: bool = False
    """Whether the layer is not rendered; a hidden layer is muted."""
    children: Annotated[list[LayerId], Field(max_length=MAX_LAYERS)] = []
    """Ids of the layers on top of this one, last on top."""
    parent_id: LayerId | None = None
    """Layer that this one is a child of."""
    metadata: AnyJson = None
    """Any JSON value of the caller's."""


class LayoutSpec(SpecModel):
    """What is wanted of a layout."""

    rules = [
        Rule(
            rule="!has(oldSelf.collectionId)"
            " || (has(self.collectionId) && self.collectionId == oldSelf.collectionId)",
            message="collectionId cannot be changed or removed once set",
        ),
        Rule(
            rule="(has(self.type) ? self.type : '') == (has(oldSelf.type) ? oldSelf.type : '')",
            message="type cannot be changed",
        ),
    ]

    project_id: ImmutableName
    """Project whose scenes it belongs to; cannot be changed."""
    collection_id: Annotated[str, Field(min_length=1, max_length=MAX_ID)] | None = None
    """Collection of that project; cannot be changed once set."""
    type: LayoutType = LayoutType.SCENELESS
    """Scene layouts have one root layer; sceneless ones leave the tree to the client."""
    width: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Width of the canvas in pixels. Default: the project's."""
    height: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Height of the canvas in pixels. Default: the project's."""
    metadata: AnyJson = None
    """Any JSON value of the caller's."""
    transitions: Annotated[list[Transition], Field(max_length=64)] = []
    """How this scene replaces another; scene layouts only."""
    layers: Annotated[
        list[Layer],
        Field(
            max_length=MAX_LAYERS,
            json_schema_extra={
                # not a map by id: field ownership per layer doubles the resource and the cost of each write
                "x-kubernetes-list-type": "atomic",
                **cel(
                    (
                        "self.all(l, !has(l.parentId) || l.parentId != l.id)",
                        "a layer cannot be its own parent",
                    )
                ),
            },
        ),
    ] = []
    """All layers, attached or not. Of two with the same id the last counts."""


class Layout(Resource):
    """A canvas with its layers."""

    kind = "Layout"
    plural = "layouts"
    short_names = ["lay"]
    spec_model = LayoutSpec
    status_model = None
    columns = [
        PrinterColumn(name="Project", path=".spec.projectId"),
        PrinterColumn(name="Type", path=".spec.type"),
        PrinterColumn(name="Width", path=".spec.width", type="integer"),
        PrinterColumn(name="Height", path=".spec.height", type="integer"),
        PrinterColumn(name="Age", path=".metadata.creationTimestamp", type="date"),
    ]

    spec: LayoutSpec
