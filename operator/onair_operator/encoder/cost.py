"""Estimates the requests of an encoder pod: size × frame rate × complexity. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onair_crds.resources.enums import RenderingQuality
from onair_crds.resources.rendering import Rendering
from onair_operator.settings import CostSettings

BROWSER_SHARE = 0.55
HIGH_QUALITY_FACTOR = 1.6
MEMORY_LIMIT_FACTOR = 3
EXCLUSIVE_HEADROOM = 1.5
"""Times what the table says: containers cannot take more than their own CPUs, and there are slower ones."""


@dataclass(frozen=True)
class Cost:
    """Requests of the two containers, and their limits.

    Attributes:
        exclusive: they may take what they ask for, and no more.
    """

    browser_millicores: int
    encoder_millicores: int
    browser_memory_mib: int
    encoder_memory_mib: int
    browser_limit_millicores: int | None = None
    """None if it may take all that is idle."""
    exclusive: bool = False

    @property
    def cores(self) -> float:
        return (self.browser_millicores + self.encoder_millicores) / 1000

    @property
    def encoder_limit_millicores(self) -> int | None:
        return self.encoder_millicores if self.exclusive else None

    @property
    def memory_limit_factor(self) -> int:
        """How many times its request the memory of each container may be."""
        return 1 if self.exclusive else MEMORY_LIMIT_FACTOR


def cost_of(rendering: Rendering, table: CostSettings) -> Cost:
    """The requests for one show."""
    video = rendering.video
    relative = video.width * video.height * video.framerate / (1280 * 720 * 30)
    quality = HIGH_QUALITY_FACTOR if rendering.quality is RenderingQuality.HIGH else 1.0
    share = table.share_millicores * relative * table.complexity_step**rendering.complexity * quality
    millicores = table.base_millicores + share
    browser = round(millicores * BROWSER_SHARE)
    pixels = video.width * video.height / (1280 * 720)
    shared = Cost(
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
    return _exclusive(shared) if table.exclusive_cpus else shared


def _exclusive(cost: Cost) -> Cost:
    """The same on CPUs of its own: the kubelet gives whole ones to containers that may take no more.

    All of the pod has to be so, memory too.
    """
    browser, encoder = _whole(cost.browser_millicores), _whole(cost.encoder_millicores)
    return Cost(
        browser_millicores=browser,
        encoder_millicores=encoder,
        browser_memory_mib=cost.browser_memory_mib * MEMORY_LIMIT_FACTOR,
        encoder_memory_mib=cost.encoder_memory_mib * MEMORY_LIMIT_FACTOR,
        browser_limit_millicores=browser,
        exclusive=True,
    )


def _whole(millicores: int) -> int:
    return math.ceil(millicores * EXCLUSIVE_HEADROOM / 1000) * 1000
