"""The page of a studio's project: where it is, and the key that newer clients have for it. Pure."""

from __future__ import annotations

import re

from onair_api.wire.mask import names_of
from onair_crds.resources.composition import studio_renderer_url
from onair_crds.shapes import JsonObject

NEWER, KEY = "studioRenderer", "studioSdk"
_NEWER_PATH = re.compile(r"^composition\.studio_?renderer\b", re.IGNORECASE)
_SCENE_PATH = re.compile(r"^composition\.studioSdk\.active_?scene_?id$", re.IGNORECASE)


def as_studio_sdk(message: JsonObject) -> JsonObject:
    """A request in which `composition.studioRenderer` has the name `studioSdk`, whose fields it has.

    Its `activeSceneId` is the page's own business, and nothing to the service.

    Raises:
        InvalidArgument: its mask names too much.
    """
    composition = message.get("composition")
    if isinstance(composition, dict):
        given = [name for name in (NEWER, "studio_renderer") if name in composition]
        if given and KEY not in composition and "studio_sdk" not in composition:
            rest = {name: value for name, value in composition.items() if name not in given}
            message = {**message, "composition": {**rest, KEY: composition[given[0]]}}
    for name in ("updateMask", "update_mask"):
        mask = message.get(name)
        names = names_of(mask) if isinstance(mask, str) else []
        if any(map(_NEWER_PATH.match, names)):
            paths = [_NEWER_PATH.sub(f"composition.{KEY}", path) for path in names]
            kept = [path for path in paths if not _SCENE_PATH.match(path)]
            # A mask that is left empty would name all that the body has
            message = {**message, name: ",".join(kept)} if kept else _nothing(message)
    return message


def _nothing(message: JsonObject) -> JsonObject:
    """A request that changes no field."""
    return {name: value for name, value in message.items() if name == "requestMetadata"}


def with_renderer_url(record: JsonObject, base_url: str) -> JsonObject:
    """A project's record that names the page in force."""
    studio = record["composition"].get(KEY)
    if studio is None or not base_url or studio.get("rendererUrl"):
        return record
    url = studio_renderer_url(base_url, studio.get("version"))
    return {**record, "composition": {KEY: {**studio, "rendererUrl": url}}}


def without_derived_url(spec: JsonObject, before: JsonObject, base_url: str) -> JsonObject:
    """A spec that does not hold what an answer had worked out, for this version or for the one before."""
    studio, old = _studio(spec), _studio(before)
    if not base_url or "rendererUrl" not in studio or "rendererUrl" in old:
        return spec
    derived = {studio_renderer_url(base_url, each.get("version")) for each in (studio, old)}
    if studio["rendererUrl"] not in derived:
        return spec
    rest = {name: value for name, value in studio.items() if name != "rendererUrl"}
    return {**spec, "composition": {KEY: rest}}


def _studio(spec: JsonObject) -> JsonObject:
    return (spec.get("composition") or {}).get(KEY) or {}
