"""The five kinds, in the order of ownership."""

from __future__ import annotations

from onair_crds.base import Resource
from onair_crds.collection import Collection
from onair_crds.destination import Destination
from onair_crds.layout import Layout
from onair_crds.project import Project
from onair_crds.source import Source

KINDS: list[type[Resource]] = [Collection, Project, Source, Destination, Layout]
