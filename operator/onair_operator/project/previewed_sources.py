"""Which sources a project's room shows. Pure.

Four things hold for each: the project has the source, the source asks for it, it is connected, and somebody
else than previews and those unseen is in the room. So previews cost nothing while nobody watches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onair_crds.contract.rooms import is_barred, room_name
from onair_crds.resources.enums import RoomPhase
from onair_crds.resources.room import RoomParticipant, RoomStatus
from onair_crds.room_server.client import ServerParticipant
from onair_operator.cluster.actions import Action, ShowPreviews
from onair_operator.ingest.shown_previews import ShownPreviews
from onair_operator.project.observed import ObservedProject


def previews(observed: ObservedProject, room: RoomStatus | None) -> ShownPreviews:
    """Returns which previews are to be in the room of a project.

    Args:
        room: the next record of the room.
    """
    if room is None or room.phase not in (RoomPhase.OPENING, RoomPhase.OPEN):
        return ShownPreviews()
    if not _is_watched(observed, room):
        return ShownPreviews(room.opening)
    barred = observed.project.spec.room.barred
    shown = frozenset(each for each in observed.previewed if not is_barred(barred, each.source))
    return ShownPreviews(room.opening, shown)


def show_previews(observed: ObservedProject, room: RoomStatus | None) -> Iterator[Action]:
    """Has gateways show them, if that has changed.

    Always the first time, as another leader may have wanted something else.
    """
    if room is None:
        return
    wanted = previews(observed, room)
    if wanted != observed.shown:
        yield ShowPreviews(room_name(observed.project.uid), wanted)


def _is_watched(observed: ObservedProject, room: RoomStatus) -> bool:
    shown = {each.source for each in observed.shown.previews} if observed.shown else set()
    previewed = {each.source_id for each in observed.project.spec.sources} | shown
    return any(not each.hidden and each.identity not in previewed for each in _present(observed, room))


def _present(
    observed: ObservedProject, room: RoomStatus
) -> Iterable[ServerParticipant] | Iterable[RoomParticipant]:
    """Who is in the room; until this process has seen it, by the word of the one that led before."""
    view = observed.room
    if view is None or (view.error and not view.participants):
        return room.participants
    return view.participants
