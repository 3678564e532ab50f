"""Builders of worlds: a project and its surroundings, as the operator would observe them."""

from __future__ import annotations

import base64
import datetime as dt
from typing import Any

from onair_crds.contract.labels import BROADCAST_FINALIZER
from onair_crds.contract.program import DestinationState, EncoderStatus, Program, ProgramVideo
from onair_crds.contract.times import format_time
from onair_crds.resources.collection import Collection
from onair_crds.resources.destination import Destination
from onair_crds.resources.project import Project
from onair_crds.shapes import Document
from onair_operator.encoder.naming import pod_name
from onair_operator.encoder.observed import EncoderView, PodView
from onair_operator.project.observed import NodeView, ObservedProject
from onair_operator.secret.observed import SecretView
from onair_operator.settings import OperatorSettings, RegionSettings

NOW = dt.datetime(2026, 5, 1, 12, 0, tzinfo=dt.UTC)
SETTINGS = OperatorSettings(
    regions=[
        RegionSettings(name="us-east-1", latitude=39.0, longitude=-77.5),
        RegionSettings(name="eu-central-1", latitude=50.1, longitude=8.7),
    ]
)
OWNED = {"ownerReferences": [{"uid": "uid-show"}]}

PROGRAM = Program(
    project="show",
    broadcast="run",
    epoch=1,
    composition_url="https://graphics.example",
    video=ProgramVideo(
        width=1280, height=720, framerate=30, bitrate_bps=3_000_000, keyframe_interval_frames=30
    ),
)


def collection(**metadata: Any) -> Collection:
    return Collection.model_validate(
        {
            "metadata": {
                "name": "sunday",
                "uid": "uid-sunday",
                "generation": 1,
                "resourceVersion": "1",
                **metadata,
            },
            "spec": {"owner": {"serviceId": "studio", "serviceUserId": "anna"}},
        }
    )


def project(
    state: str = "Running",
    id: str | None = None,
    status: Document | None = None,
    *,
    stopped: str | None = None,
    **extra: Any,
) -> Project:
    metadata = {
        "name": "show",
        "uid": "uid-show",
        "generation": 3,
        "resourceVersion": "10",
        "ownerReferences": [{"uid": "uid-sunday"}],
        **extra.pop("metadata", {}),
    }
    broadcast = {"state": state, **({"id": id} if id else {}), **({"stopped": stopped} if stopped else {})}
    spec = {
        "collectionId": "sunday",
        "composition": {"external": {"url": "https://graphics.example/stage"}},
        "broadcast": broadcast,
        **extra,
    }
    return Project.model_validate({"metadata": metadata, "spec": spec, "status": status or {}})


def run(phase: str, id: str = "run", epoch: int = 1, **extra: Any) -> Document:
    """A status.broadcast in the given phase."""
    return {
        "id": id,
        "epoch": epoch,
        "phase": phase,
        "pod": pod_name("show", id, epoch),
        "claimed": format_time(NOW - dt.timedelta(minutes=1)),
        **extra,
    }


def on_air(**extra: Any) -> Document:
    return run(
        "Running",
        **{
            "encoder": "uid-pod-1",
            "start": format_time(NOW - dt.timedelta(seconds=30)),
            "node": "node-eu",
            "region": "eu-central-1",
            "datacenter": "eu-central-1a",
            **extra,
        },
    )


def held(**metadata: Any) -> Document:
    return {"finalizers": [BROADCAST_FINALIZER], **metadata}


def pod(epoch: int = 1, id: str = "run", **extra: Any) -> PodView:
    return PodView(
        **{
            "name": pod_name("show", id, epoch),
            "uid": f"uid-pod-{epoch}",
            "broadcast": id,
            "epoch": epoch,
            "phase": "Running",
            "deleting": False,
            "created": NOW - dt.timedelta(minutes=1),
            "node": "node-eu",
            "ip": "10.0.0.9",
            **extra,
        }
    )


def destination(name: str = "main", **spec: Any) -> Destination:
    status = spec.pop("status", {})
    return Destination.model_validate(
        {
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "generation": 1,
                "resourceVersion": "5",
                **OWNED,
            },
            "spec": {
                "projectId": "show",
                "address": {"rtmpPush": {"url": f"rtmp://media.example/live/{name}"}},
                **spec,
            },
            "status": status,
        }
    )


def secret(name: str = "key", type: str = "onair.dev/credentials", **data: str) -> SecretView:
    encoded = {k: base64.b64encode(v.encode()).decode() for k, v in data.items()}
    given = NOW - dt.timedelta(hours=1)
    return SecretView(name=name, uid=f"uid-{name}", type=type, created=given, written=given, data=encoded)


def encoder(phase: str = "running", id: str = "run", epoch: int = 1, **extra: Any) -> EncoderView:
    connected, refused = extra.pop("connected", True), extra.pop("refused", None)
    status = EncoderStatus(
        **{
            "phase": phase,
            "broadcast": id,
            "epoch": epoch,
            "first_frame": format_time(NOW - dt.timedelta(seconds=30)) if phase == "running" else None,
            **extra,
        }
    )
    return EncoderView(f"uid-pod-{epoch}", connected, status, refused=refused)


def delivering(name: str = "main", connect: str = "Connected", error: str | None = None) -> DestinationState:
    since = format_time(NOW - dt.timedelta(seconds=20))
    return DestinationState(id=name, connect=connect, since=since, last_error=error)


def world(show: Project, **extra: Any) -> ObservedProject:
    pods = tuple(extra.pop("pods", ()))
    views = extra.pop("encoders", ())
    return ObservedProject(
        **{
            "project": show,
            "collection": collection(),
            "destinations": tuple(extra.pop("destinations", ())),
            "pods": pods,
            "secrets": {s.name: s for s in extra.pop("secrets", ())},
            "nodes": {"node-eu": NodeView("eu-central-1", "eu-central-1a")},
            "encoders": {view.pod_uid: view for view in views},
            **extra,
        }
    )
