"""What the rules of scenes give: pictures on the way between layouts, and how far a frame is. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.support.scene.picture import Colour

Picture = NDArray[np.float32]
"""Height × width × 3, 0 to 255."""
Box = tuple[int, int, int, int]
"""Left, top, width, height."""
Way = Callable[[float], Picture]
"""The picture at a part of a transition's time."""
Rule = Callable[[Picture, Picture], Way]
COLOUR = 4
"""How far each channel of a colour may be off."""
EDGE_PX = 3
"""An edge within a pixel of its place, with colours at half of the resolution, is in this distance of it."""
COARSE = 6
"""Each so many pixels are looked at to find where a frame is."""
SEEN_PX = 200
"""Of a colour; what is less is a remainder of another one."""
TOLD_APART = 36
"""How far colours have to be from each other so that their edges can be found."""
SPOILT = 0.002
"""Part of a moving picture that the encoder may spoil."""
FAR = np.float32(24)
"""What differs by more than this from its neighbour is an edge."""


def picture(size: tuple[int, int], ground: Colour, boxes: Mapping[Box, Colour]) -> Picture:
    """A picture of one colour with boxes of others."""
    width, height = size
    pixels = np.full((height, width, 3), ground, np.float32)
    for (left, top, box_width, box_height), colour in boxes.items():
        pixels[top : top + box_height, left : left + box_width] = colour
    return pixels


def crossfade(before: Picture, after: Picture) -> Way:
    return lambda part: before * (1 - part) + after * part


def fade_to(color: Colour) -> Rule:
    """Half of the time to the colour, half from it."""

    def rule(before: Picture, after: Picture) -> Way:
        over = np.full_like(before, color)

        def way(part: float) -> Picture:
            shown, opacity = (before, part * 2) if part < 0.5 else (after, 2 - part * 2)
            return shown * (1 - opacity) + over * opacity

        return way

    return rule


def swipe(direction: tuple[int, int], moves: str) -> Rule:
    """
    Args:
        direction: that pictures move in: right and down are 1.
        moves: COMBINED, SOURCE or DESTINATION.
    """

    def rule(before: Picture, after: Picture) -> Way:
        height, width = before.shape[:2]

        def way(part: float) -> Picture:
            x, y = (round(part * size * way) for size, way in zip((width, height), direction, strict=True))
            arriving = moved(after, x - direction[0] * width, y - direction[1] * height)
            if moves == "DESTINATION":
                return np.where(np.isnan(arriving), before, arriving)
            leaving = moved(before, x, y)
            if moves == "SOURCE":
                return np.where(np.isnan(leaving), after, leaving)
            return np.where(np.isnan(leaving), arriving, leaving)

        return way

    return rule


def moved(pixels: Picture, x: int, y: int) -> Picture:
    """A picture that is moved; NaN where it is no longer."""
    height, width = pixels.shape[:2]
    place = np.full_like(pixels, np.nan)
    to = slice(max(0, y), min(height, height + y)), slice(max(0, x), min(width, width + x))
    of = slice(max(0, -y), min(height, height - y)), slice(max(0, -x), min(width, width - x))
    place[to] = pixels[of]
    return place


class Wanted:
    """A picture that frames are compared with."""

    def __init__(self, pixels: Picture) -> None:
        self._pixels, self._inner = pixels, ~near_edges(pixels)

    def differing(self, frame: NDArray[np.uint8]) -> float:
        """Which part of a frame has not the colour that it should have, edges apart."""
        return float(self._spoilt(frame).sum() / max(1, self._inner.sum()))

    def _spoilt(self, frame: NDArray[np.uint8]) -> NDArray[np.bool_]:
        off: NDArray[np.bool_] = np.abs(frame.astype(np.float32) - self._pixels).max(axis=2) > COLOUR + 0.5
        return off & self._inner

    def fault(self, frame: NDArray[np.uint8]) -> str:
        """Where a frame has not the colour that it should have, and what it has there; for people."""
        spoilt = self._spoilt(frame)
        rows, columns = np.nonzero(spoilt)
        if not len(rows):
            return "no pixel differs"
        colours, counts = np.unique(frame[spoilt] // 8 * 8, axis=0, return_counts=True)
        most = colours[np.argsort(-counts)[:4]].tolist()
        wanted = np.unique(self._pixels[spoilt].round(), axis=0)[:4].tolist()
        place = f"x {columns.min()}-{columns.max()}, y {rows.min()}-{rows.max()}"
        return f"{self.differing(frame):.2%} differ within {place}: about {most} instead of {wanted}"

    def displaced_px(self, frame: NDArray[np.uint8]) -> int:
        """How far an edge of any colour is from where it should be; 0 where colours cannot be told apart."""
        codes = np.round(self._pixels).astype(np.int32) @ (1 << 16, 1 << 8, 1)
        found, counts = np.unique(codes, return_counts=True)
        palette = [(code >> 16, code >> 8 & 255, code & 255) for code in found[counts >= SEEN_PX]]
        colours = np.array(palette, np.float32)
        apart = np.abs(colours[:, None] - colours[None]).max(axis=2) + 255 * np.eye(len(colours))
        if apart.min() < TOLD_APART:
            return 0
        worst = 0
        for colour in colours:
            edges = [
                _edges(np.abs(pixels - colour).max(axis=2) < apart.min() / 2)
                for pixels in (frame.astype(np.float32), self._pixels)
            ]
            worst = max(worst, int(np.abs(edges[0] - edges[1]).max()))
        return worst

    def shown(self, frame: NDArray[np.uint8]) -> bool:
        return self.differing(frame) <= SPOILT


def _edges(mask: NDArray[np.bool_]) -> NDArray[np.int_]:
    """Left, right, top and bottom of most of what is set."""
    edges = []
    for axis in (0, 1):
        profile = mask.sum(axis=axis)
        within = np.flatnonzero(profile * 2 >= max(1, profile.max()))
        edges += [within[0], within[-1]] if len(within) else [-SEEN_PX, -SEEN_PX]
    return np.array(edges)


def near_edges(wanted: Picture) -> NDArray[np.bool_]:
    """Where an edge is, with what is next to it."""
    edges = np.zeros(wanted.shape[:2], bool)
    for axis in (0, 1):
        step = np.abs(np.diff(wanted, axis=axis)).max(axis=2) > FAR
        padded = np.concatenate([step, np.zeros_like(np.take(step, [-1], axis=axis))], axis=axis)
        for distance in range(-EDGE_PX, EDGE_PX + 1):
            edges |= np.roll(padded, distance, axis)
    return edges


class Passage:
    """The way from one picture to another by a rule, and where frames are on it."""

    def __init__(self, rule: Rule, before: Picture, after: Picture) -> None:
        self.before, self.after = Wanted(before), Wanted(after)
        self._way = rule(before, after)
        self._coarse = rule(before[::COARSE, ::COARSE], after[::COARSE, ::COARSE])
        self._steps = max(len(before), len(before[0])) // COARSE

    def part_of(self, frame: NDArray[np.uint8]) -> float:
        """How far a frame is, as a part of the time, within a hundredth; by its picture alone."""
        small = frame[::COARSE, ::COARSE].astype(np.float32)
        steps = np.linspace(0, 1, self._steps + 1)
        return float(min(steps, key=lambda part: float(np.abs(self._coarse(part) - small).mean())))

    def exactly(self, frame: NDArray[np.uint8]) -> tuple[float, Wanted]:
        """How far a frame is, within a pixel, and what the rule gives there."""
        near, height, width = self.part_of(frame), *frame.shape[:2]
        around = 2 * COARSE / min(height, width)
        whole = frame.astype(np.float32)
        parts = np.arange(near - around, near + around, 1 / max(height, width)).clip(0, 1)
        part = float(min(parts, key=lambda part: float(np.abs(self._way(part) - whole).mean())))
        return part, Wanted(self._way(part))


@dataclass(frozen=True)
class TransitionLine:
    """A transition as it was seen: when it was how far."""

    began_s: float
    duration_s: float

    def at(self, part: float) -> float:
        return self.began_s + part * self.duration_s


def line_through(times_s: list[float], parts: list[float], duration_s: float) -> TransitionLine:
    """The line of this steepness that most frames are nearest to."""
    return TransitionLine(float(np.median(np.array(times_s) - np.array(parts) * duration_s)), duration_s)
