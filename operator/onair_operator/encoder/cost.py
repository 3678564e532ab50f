"""Estimates the requests of an encoder pod: size × frame rate × complexity. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.resources.enums import RenderingQuality
from onair_crds.resources.rendering import Rendering
from onair_operator.settings import CostSettings

BROWSER_SHARE = 0.55
HIGH_QUALITY_FACTOR = 1.6


@dataclass(frozen=True)
class Cost:
    """Requests of the two containers, and the CPU limit of one."""

    browser_millicores: int
    encoder_millicores: int
    browser_memory_mib: int
    encoder_memory_mib: int
    browser_limit_millicores: int | None = None
    """None if it may take all that is idle."""

    @property
    def cores(self) -> float:
        return (self.browser_millicores + self.encoder_millicores) / 1000


def cost_of(rendering: Rendering, table: CostSettings) -> Cost:
    """The requests for one show."""
    video = rendering.video
    relative = video.width * video.height * video.framerate / (1280 * 720 * 30)
    quality = HIGH_QUALITY_FACTOR if rendering.quality is RenderingQuality.HIGH else 1.0
    share = table.share_millicores * relative * table.complexity_step**rendering.complexity * quality
    millicores = table.base_millicores + share
    browser = round(millicores * BROWSER_SHARE)
    pixels = video.width * video.height / (1280 * 720)
    return Cost(
        browser_millicores=browser,
        encoder_millicores=round(millicores) - browser,
        browser_memory_mib=round(table.browser_memory_mib * (0.75 + 0.25 * pixels)),
        encoder_memory_mib=round(table.encoder_memory_mib * (0.75 + 0.25 * pixels)),
        browser_limit_millicores=max(
            round(browser * table.browser_limit_factor), table.browser_limit_millicores
        )
        if table.browser_limit_factor
        else None,
    )
