"""What of a project's spec its encoder gets: what a change of has to be, to change anything on air. Pure."""

from __future__ import annotations

from pydantic import ValidationError

from onair_crds.resources.composition import Composition, SceneComposition
from onair_crds.resources.encoding import target_bitrate_bps
from onair_crds.resources.project import ProjectSpec
from onair_crds.shapes import JsonObject


def same_programme(one: JsonObject, other: JsonObject) -> bool:
    """Whether two specs mean the same on air: complexity is only a cost, and a default may be written out."""
    try:
        return _programme(one) == _programme(other)
    except ValidationError:  # a newer version stored it: nothing is known of what it means
        return one == other


def _programme(spec: JsonObject) -> tuple[object, ...]:
    project = ProjectSpec.model_validate(spec)
    rendering, encoding = project.rendering, project.encoding
    return (
        rendering.video,
        rendering.audio,
        rendering.quality,
        rendering.target_latency,
        encoding.audio,
        encoding.video.codec,
        encoding.video.profile,
        encoding.video.rate_control.mode,
        encoding.video.rate_control.max_key_frame_interval,
        target_bitrate_bps(rendering, encoding),
        project.composition or Composition(scene=SceneComposition()),
        project.max_duration,
    )
