"""The commands `make sbom` and `make scan`."""

from __future__ import annotations

from collections import Counter

from onair_dev.cluster import images
from onair_dev.settings import ROOT
from onair_dev.supply_chain import bill_of_materials, packages
from onair_dev.supply_chain.security_updates import updates_of


def bills() -> int:
    """Writes one for each image, and says what it counts."""
    for image in images.all_images():
        found = packages.packages_of(image)
        path = bill_of_materials.write(image, found)
        counts = Counter(each.kind for each in found)
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        print(f"{path.relative_to(ROOT)!s:<50} {counted}")
    return 0


def scan() -> int:
    """Lists what Debian has fixed since the images were built; 1 where there is something."""
    lacking = 0
    for image in images.all_images():
        if image.name in packages.PROGRAMS:
            print(f"{image.reference:<30} no Debian packages")
            continue
        updates = updates_of(image.reference)
        lacking += len(updates)
        print(f"{image.reference:<30} {len(updates) or 'no'} security updates")
        for each in updates:
            print(f"  {each.package:<40} {each.has} -> {each.fixed}")
    print("packages of Python, Go and npm are in the bills of materials (make sbom), not judged here")
    if lacking:
        print("rebuild the images: make refresh")
    return 1 if lacking else 0
