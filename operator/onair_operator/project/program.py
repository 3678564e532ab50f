"""Builds the programme that a project's encoder is to carry out, and hands it over. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Literal, cast

from pydantic import SecretStr

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import (
    Program,
    ProgramDestination,
    ProgramRoomServer,
    ProgramStudio,
    ProgramVideo,
)
from onair_crds.contract.rooms import room_name
from onair_crds.contract.scene import ProgramScene
from onair_crds.contract.times import format_time, parse_time
from onair_crds.resources.composition import Composition
from onair_crds.resources.encoding import target_bitrate_bps
from onair_crds.resources.enums import BroadcastPhase, RoomPhase
from onair_crds.resources.project import BroadcastStatus
from onair_operator.cluster.actions import Action, PushProgram, Requeue
from onair_operator.cluster.queue import Key
from onair_operator.destination.program_destinations import deliveries, wanted
from onair_operator.encoder.observed import PodView
from onair_operator.encoder.program_push import digest
from onair_operator.project.broadcast_state_machine import BroadcastStep, on_the_way
from onair_operator.project.deliveries import kept_destinations
from onair_operator.project.encoders import unyielded_s, wanted_pod
from onair_operator.project.observed import ObservedProject
from onair_operator.room.publisher_tokens import renderer_access, valid_until
from onair_operator.scene.observed import is_scene, page_url, selected
from onair_operator.settings import OperatorSettings


def hand_over_program(
    observed: ObservedProject, step: BroadcastStep, now: dt.datetime, settings: OperatorSettings
) -> Iterator[Action]:
    """Hands the claimed encoder its programme, without destinations while another has to yield them.

    Encoders of earlier runs that store recordings are asked, as before, to end.
    """
    for run in step.draining:
        if pod := observed.ending_pod(run):
            yield from _hand_over(observed, pod, wanted_program(observed, run, settings, stop=True))
    broadcast = step.broadcast if on_the_way(step.broadcast) else None
    claimed = wanted_pod(observed, step)
    if broadcast is None or claimed is None or claimed.ip is None:
        return
    stop = broadcast.phase is BroadcastPhase.STOPPING
    # Without the secret of ingest, a new programme would take from the page what it is showing.
    incomplete = observed.defaulted or observed.sources_withheld
    if incomplete and not stop and not _lacks_program(observed, claimed, broadcast):
        return
    program = wanted_program(observed, broadcast, settings, stop=stop)
    if wait_s := unyielded_s(observed, step, claimed, broadcast, now):
        # It renders and encodes meanwhile.
        program = program.model_copy(update={"destinations": []})
        yield Requeue(Key(observed.project.kind, observed.project.name), wait_s)
    yield from _hand_over(observed, claimed, program)


def _lacks_program(observed: ObservedProject, pod: PodView, broadcast: BroadcastStatus) -> bool:
    """Whether the encoder is known to have no programme of this run, with which it could go on."""
    encoder = observed.encoders.get(pod.uid)
    status = encoder.status if encoder else None
    return status is not None and (status.broadcast, status.epoch) != (broadcast.id, broadcast.epoch)


def _hand_over(observed: ObservedProject, pod: PodView, program: Program) -> Iterator[Action]:
    encoder = observed.encoders.get(pod.uid)
    if pod.ip and not pod.over and (encoder is None or encoder.pushed != digest(program)):
        yield PushProgram(pod.uid, program)


def wanted_program(
    observed: ObservedProject, broadcast: BroadcastStatus, settings: OperatorSettings, *, stop: bool = False
) -> Program:
    """The whole programme of the present run and epoch. Destinations that cannot be are omitted."""
    spec = observed.project.spec
    video = spec.rendering.video
    pod = observed.claimed_pod(broadcast)
    rooms_until = valid_until(broadcast, spec.max_duration, pod.scheduled if pod else None)
    found = deliveries(observed, rooms_until)
    destinations = [
        program
        for destination in sorted(observed.destinations, key=lambda d: d.name)
        if wanted(destination) and isinstance(program := found[destination.name], ProgramDestination)
    ]
    scene = _scene(observed, broadcast)
    return Program(
        project=observed.project.name,
        collection=spec.collection_id,
        broadcast=broadcast.id,
        epoch=broadcast.epoch,
        composition_url=page_url(spec.composition, settings),
        video=ProgramVideo(
            width=video.width,
            height=video.height,
            framerate=video.framerate,
            profile=cast(Literal["baseline", "main", "high"], spec.encoding.video.profile.value.lower()),
            bitrate_bps=target_bitrate_bps(spec.rendering, spec.encoding),
            keyframe_interval_frames=spec.encoding.video.rate_control.max_key_frame_interval,
            quality=cast(Literal["standard", "high"], spec.rendering.quality.value.lower()),
        ),
        destinations=destinations,
        kept=kept_destinations(observed, found),
        inside=settings.inside,
        sources=list(observed.program_sources),
        source_delay_ms=spec.rendering.target_latency,
        scene=scene,
        studio=_studio(spec.composition, settings),
        page_token=_page_token(observed),
        facade_url=settings.facade_url,
        room_server=_room_server(observed, scene, broadcast.epoch, rooms_until),
        stop_at=_stop_at(broadcast, spec.max_duration),
        page_timeout_ms=round(settings.broadcast.page_timeout_s * 1000),
        stop=stop,
    )


def _studio(composition: Composition | None, settings: OperatorSettings) -> ProgramStudio | None:
    """None if the page of scenes is in the place of the studio's."""
    studio = composition is not None and composition.studio_sdk is not None
    if not studio or page_url(composition, settings) == COMPOSITOR_URL:
        return None
    return ProgramStudio(redirected_hosts=settings.redirected_hosts)


def _page_token(observed: ObservedProject) -> SecretStr | None:
    """None for an external page, which does not connect to us."""
    composition = observed.project.spec.composition
    external = composition is not None and composition.external is not None
    return SecretStr(observed.page_token) if observed.page_token and not external else None


def _scene(observed: ObservedProject, broadcast: BroadcastStatus) -> ProgramScene | None:
    """What the page draws; the layouts of a run that is being stopped stay as its encoder has them."""
    composition = observed.project.spec.composition
    if not is_scene(composition) or not broadcast.phase.active:
        return None
    return ProgramScene(
        selected_layout_id=selected(composition, broadcast.layout),
        debug=bool(composition and composition.scene and composition.scene.debug),
        target_latency_ms=observed.project.spec.rendering.target_latency,
        layouts=list(observed.scene.layouts),
    )


def _room_server(
    observed: ObservedProject, scene: ProgramScene | None, epoch: int, until: dt.datetime | None
) -> ProgramRoomServer | None:
    """None if no layout shows a participant, or their room is not open: the facade opens it for them."""
    room, server = observed.project.status.room, observed.room_server
    if scene is None or not scene.shows_participants or server is None or until is None:
        return None
    if room is None or room.phase is not RoomPhase.OPEN:
        return None
    return renderer_access(server, room_name(observed.project.uid), epoch, until)


def _stop_at(broadcast: BroadcastStatus, max_duration_ms: int) -> str | None:
    if not broadcast.start:
        return None
    return format_time(parse_time(broadcast.start) + dt.timedelta(milliseconds=max_duration_ms))
