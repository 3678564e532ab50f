"""Masks that are too large to be split."""

from __future__ import annotations

from typing import SupportsIndex


class LargeMask(str):
    """A mask that fails the test if it is split into very many parts."""

    __slots__ = ()

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        parts = super().split(sep, maxsplit)
        assert len(parts) < 1000, f"the mask was split into {len(parts)} parts"
        return parts
