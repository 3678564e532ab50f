"""Scenes: what a programme carries of them, and the messages between agent and page.

The programme has the layouts as they were when it was made. The agent follows changes of layers beyond that,
and is a page's one source: WebSocket `ws://127.0.0.1:8450/scene`, JSON text. It sends SceneState at the
beginning and whenever more than layers has changed, LayersChange for each change of one layout's layers.
Layers and transitions are HTTP's records (`docs/reference/layouts.md`): pixels, milliseconds.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from onair_crds.contract.layers import layers_of_spec
from onair_crds.contract.wire_model import Secret, WireModel
from onair_crds.resources.enums import LayoutType, WireEnum
from onair_crds.resources.layout import MAX_LAYERS, Transition
from onair_crds.shapes import Document, JsonObject

MAX_LAYOUTS = 64
MAX_LAYOUTS_BYTES = 1_500_000
"""What a programme carries at most besides the selected layout, in all; that alone is at most as large as a
resource can be. An encoder takes programmes of 4 MiB."""
MAX_SAID_REASON = 1600
"""Characters of a reason that are kept of what a page says."""

PARTICIPANT_LAYER = "webrtc"
"""Type of layers that show somebody in the project's room."""

LAYOUT_TYPES: dict[LayoutType, Literal["SCENE", "SCENELESS"]] = {
    LayoutType.SCENE: "SCENE",
    LayoutType.SCENELESS: "SCENELESS",
}


class SceneLayer(WireModel):
    """A layer as the page draws it."""

    id: str
    type: str
    children: list[str] = []
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None
    scale: float = 1
    rotation: float = 0
    opacity: float = 1
    hidden: bool = False
    data: JsonObject = {}


class SceneLayout(WireModel):
    """A layout as the page draws it."""

    id: str
    type: Literal["SCENE", "SCENELESS"]
    width: int
    height: int
    transitions: list[JsonObject] = []
    layers: list[SceneLayer] = []


class ProgramLayout(SceneLayout):
    """A layout as a programme carries it."""

    resource_version: int
    """Of the resource: what is of a higher one is newer."""


class ProgramScene(WireModel):
    """The scene of a programme whose page draws one."""

    selected_layout_id: str | None = None
    """None: nothing is drawn. Where it is none of `layouts` (yet), what is on air stays."""
    debug: bool = False
    target_latency_ms: int = 500
    layouts: list[ProgramLayout] = []
    """The selected one first, then those that a switch could lead to, as far as there is room."""

    @property
    def shows_participants(self) -> bool:
        """Whether a layout has a layer that shows somebody in the project's room."""
        return any(layer.type == PARTICIPANT_LAYER for layout in self.layouts for layer in layout.layers)


# -- agent to page ------------------------------------------------------------------------------------


class Canvas(WireModel):
    """The size of what is drawn, in pixels."""

    width: int
    height: int


class PageRoom(WireModel):
    """The project's room, joined hidden."""

    url: str
    token: Secret


class PageLayout(SceneLayout):
    """A layout as the agent sends it to the page."""

    version: int
    """Grows with every message about this layout."""


class SceneState(WireModel):
    """All of it. A page that has drawn an earlier one changes what differs."""

    type: Literal["state"] = "state"
    canvas: Canvas
    selected_layout_id: str | None = None
    debug: bool = False
    target_latency_ms: int = 500
    room: PageRoom | None = None
    room_known: bool = False
    """Whether `room` says what there is. While it does not, a page stays in the room that it has joined."""
    layouts: list[PageLayout] = []


class LayerAnimation(WireModel):
    """How one layer moves."""

    id: str
    request_animation: list[JsonObject] = []


class ChangeAnimation(WireModel):
    """How a change moves the layers to their new state."""

    mode: Literal["PARALLEL", "SERIES"] = "PARALLEL"
    layers: list[LayerAnimation] = []


class LayersChange(WireModel):
    """A change of one layout, in order; one that is not newer than what the page has says nothing."""

    type: Literal["layers"] = "layers"
    layout_id: str
    version: int
    upsert: list[SceneLayer] = []
    remove: list[str] = []
    animation: ChangeAnimation | None = None


# -- page to agent ------------------------------------------------------------------------------------


class PageReady(WireModel):
    """The first layout is up, or nothing is to be drawn. On each connection."""

    type: Literal["ready"]


class PageFailure(WireModel):
    """A layer that the page cannot show."""

    layout_id: Annotated[str, Field(max_length=256)]
    layer_id: Annotated[str, Field(max_length=256)]
    reason: Annotated[str, AfterValidator(lambda text: text[:MAX_SAID_REASON])] = ""
    """What is longer is cut, as a status has much less of it."""


class PageFailed(WireModel):
    """Layers that cannot be shown: all of them, whenever that changes."""

    type: Literal["failed"]
    layers: Annotated[list[PageFailure], Field(max_length=MAX_LAYOUTS * MAX_LAYERS)] = []


class PageLevels(WireModel):
    """How loud layers are, dBFS, once a second."""

    type: Literal["levels"]
    layers: Annotated[dict[str, float], Field(max_length=MAX_LAYERS)] = {}


PageMessage = Annotated[PageReady | PageFailed | PageLevels, Field(discriminator="type")]
PAGE_MESSAGE: TypeAdapter[PageMessage] = TypeAdapter(PageMessage)


# -- from the resource --------------------------------------------------------------------------------


def program_layout(name: str, version: int, spec: Document, width: int, height: int) -> ProgramLayout:
    """A stored layout as a programme carries it.

    Args:
        width, height: the project's canvas, for a layout that has no size of its own.

    Raises:
        ValueError: what is stored is not as the resource's model says.
    """
    return ProgramLayout(
        id=name,
        resource_version=version,
        type=LAYOUT_TYPES[LayoutType(spec.get("type") or LayoutType.SCENELESS)],
        width=spec.get("width") or width,
        height=spec.get("height") or height,
        transitions=[_transition(each) for each in spec.get("transitions") or []],
        layers=[scene_layer(each) for each in layers_of_spec(spec).values()],
    )


def scene_layer(record: JsonObject) -> SceneLayer:
    """A layer of a resource, or HTTP's record of one; unset fields get their defaults.

    Raises:
        ValueError: it is not as the resource's model says.
    """
    values = {field: value for field, value in record.items() if value is not None}
    if not isinstance(values.get("data"), dict):
        values["data"] = {}
    return SceneLayer.model_validate(values)


def _transition(stored: Document) -> JsonObject:
    transition = Transition.model_validate(stored)
    values: JsonObject = _wire(transition.model_dump(by_alias=True, exclude_none=True))
    return values


def _wire(value: Any) -> Any:
    """Enumerations in their wire form."""
    if isinstance(value, dict):
        return {key: _wire(each) for key, each in value.items()}
    return value.wire if isinstance(value, WireEnum) else value
