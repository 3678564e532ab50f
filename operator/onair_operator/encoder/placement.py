"""Places encoders: the configured regions from near to far, as node affinity. Pure."""

from __future__ import annotations

from math import asin, cos, radians, sin, sqrt

from onair_crds.contract.labels import REGION_LABEL
from onair_crds.resources.project import Location
from onair_crds.shapes import Document
from onair_operator.settings import RegionSettings

EARTH_RADIUS_KM = 6371.0


def distance_km(a: Location, b: RegionSettings) -> float:
    """Great-circle distance by the haversine formula."""
    phi_a, phi_b = radians(a.latitude), radians(b.latitude)
    d_phi, d_lambda = phi_b - phi_a, radians(b.longitude - a.longitude)
    h = sin(d_phi / 2) ** 2 + cos(phi_a) * cos(phi_b) * sin(d_lambda / 2) ** 2
    return 2 * EARTH_RADIUS_KM * asin(sqrt(min(1.0, h)))


def regions_by_distance(location: Location | None, regions: list[RegionSettings]) -> list[RegionSettings]:
    """The nearest first; without a location in the order of the configuration."""
    if location is None:
        return list(regions)
    return sorted(regions, key=lambda region: distance_km(location, region))


def node_affinity(ranked: list[RegionSettings], avoid: frozenset[str] = frozenset()) -> Document:
    """Any of the regions, the nearest by far preferred, on no node of `avoid`.

    Weights halve with each rank: the scheduler scales the best node to 100 and
    doubles it, which outweighs how full a node is or whether it has the image.
    """
    term: Document = {}
    if ranked:
        regions = [region.name for region in ranked]
        term["matchExpressions"] = [{"key": REGION_LABEL, "operator": "In", "values": regions}]
    if avoid:
        # A field takes one value for each requirement.
        term["matchFields"] = [
            {"key": "metadata.name", "operator": "NotIn", "values": [node]} for node in sorted(avoid)
        ]
    if not term:
        return {}
    required = {"nodeSelectorTerms": [term]}
    preferred = [
        {
            "weight": max(1, 100 >> rank),
            "preference": {
                "matchExpressions": [{"key": REGION_LABEL, "operator": "In", "values": [region.name]}]
            },
        }
        for rank, region in enumerate(ranked)
    ]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": required,
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }
    }
