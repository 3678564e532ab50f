"""Writes what is in each image as CycloneDX, for scanners and for auditors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from onair_dev.cluster.images import Image
from onair_dev.settings import BUILD
from onair_dev.supply_chain.packages import Package

FOLDER = BUILD / "bills-of-materials"


def component(package: Package) -> Component:
    """The CycloneDX component of a package."""
    namespace, name = None, package.name
    if package.kind == "deb":
        namespace = "debian"
    elif "/" in name:
        namespace, name = name.rsplit("/", 1)
    qualifiers = {"arch": package.architecture} if package.architecture else {}
    if package.kind == "deb":
        qualifiers["distro"] = "debian-12"
    if package.source:
        qualifiers["upstream"] = package.source
    url = PackageURL(package.kind, namespace, name, package.version, qualifiers)
    return Component(
        name=package.name, version=package.version, purl=url, type=ComponentType.LIBRARY, bom_ref=str(url)
    )


def bill(image: Image, packages: Iterable[Package]) -> str:
    """The document, as JSON."""
    about = Component(name=image.repository, version=image.tag, type=ComponentType.CONTAINER)
    bom = Bom(components=[component(each) for each in packages])
    bom.metadata.component = about
    bom.register_dependency(about, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=1)


def write(image: Image, packages: Iterable[Package], folder: Path = FOLDER) -> Path:
    """Writes the bill of materials of an image; gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{image.name}.cdx.json"
    path.write_text(bill(image, packages))
    return path
