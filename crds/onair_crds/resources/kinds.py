"""The five kinds, in the order of ownership."""

from __future__ import annotations

from onair_crds.resources.base import Resource
from onair_crds.resources.collection import Collection
from onair_crds.resources.destination import Destination
from onair_crds.resources.layout import Layout
from onair_crds.resources.project import Project
from onair_crds.resources.source import Source

KINDS: list[type[Resource]] = [Collection, Project, Source, Destination, Layout]
