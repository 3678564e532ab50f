"""A small programme, as an operator would push it."""

from __future__ import annotations

from typing import Any

from onair_crds.contract.program import Program, ProgramVideo

VIDEO = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=30)


def small_program(**fields: Any) -> Program:
    """Of broadcast run of project show, epoch 1, with no destination."""
    defaults = {
        "project": "show",
        "broadcast": "run",
        "epoch": 1,
        "composition_url": "http://page.example/",
        "video": VIDEO,
    }
    return Program(**{**defaults, **fields})
