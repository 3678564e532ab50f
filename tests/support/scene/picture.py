"""What a page has painted, and where its colours are."""

from __future__ import annotations

import io
from dataclasses import dataclass

import av
import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int]
TOLERANCE = 4
"""How far each channel of a colour may be off."""
NEAR = 1
"""How far an edge may be off, in pixels."""

RED, GREEN, BLUE = (255, 0, 0), (0, 128, 0), (0, 0, 255)
WHITE, BLACK, YELLOW = (255, 255, 255), (0, 0, 0), (255, 255, 0)


@dataclass(frozen=True)
class Picture:
    pixels: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, png: bytes) -> Picture:
        with av.open(io.BytesIO(png), "r") as container:
            return cls(
                next(container.decode(video=0)).to_ndarray(format="rgb24").astype(np.uint8, copy=False)
            )

    def at(self, x: int, y: int) -> Colour:
        red, green, blue = self.pixels[y, x]
        return int(red), int(green), int(blue)

    def has(self, x: int, y: int, colour: Colour) -> bool:
        return all(abs(is_ - wanted) <= TOLERANCE for is_, wanted in zip(self.at(x, y), colour, strict=True))

    def box(self, colour: Colour) -> tuple[int, int, int, int] | None:
        """Left, top, width and height of what has this colour; None where nothing has."""
        off = np.abs(self.pixels.astype(int) - np.array(colour)).max(axis=2)
        rows, columns = np.nonzero(off <= TOLERANCE)
        if not len(rows):
            return None
        left, top = int(columns.min()), int(rows.min())
        return left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1


def same_box(is_: tuple[int, int, int, int] | None, wanted: tuple[int, int, int, int]) -> bool:
    """Whether each edge is where it should be, within a pixel."""
    if is_ is None:
        return False
    edges = [(x, y, x + width, y + height) for x, y, width, height in (is_, wanted)]
    return all(abs(one - other) <= NEAR for one, other in zip(*edges, strict=True))
