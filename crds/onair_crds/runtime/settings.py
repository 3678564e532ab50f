"""Settings of a program: the YAML file that `ONAIR_CONFIG` names, and environment variables over it.

A variable is `ONAIR_` and the field's name; parts of a nested one are joined by `__`.

Names that are not known are ignored: the file is replaced ahead of the pods in an upgrade, and a pod of
before that is restarted then must serve on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import structlog
import yaml
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

CONFIG_VARIABLE = "ONAIR_CONFIG"
log = structlog.get_logger()


class Part(BaseModel):
    """A group of settings, camelCase in the file."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
        extra="ignore",
    )


class ProgramSettings(BaseSettings):
    """All settings of one program."""

    model_config = SettingsConfigDict(
        env_prefix="ONAIR_",
        env_nested_delimiter="__",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
        extra="ignore",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments come first, then the environment, then the file."""
        sources: list[PydanticBaseSettingsSource] = [init_settings, env_settings]
        if path := os.environ.get(CONFIG_VARIABLE):
            sources.append(YamlConfigSettingsSource(settings_cls, yaml_file=path))
        return tuple(sources)

    @classmethod
    def unknown_names(cls) -> list[str]:
        """The names in the file that this version does not know, with dots between parts."""
        path = os.environ.get(CONFIG_VARIABLE)
        return sorted(_unknown(cls, yaml.safe_load(Path(path).read_text()))) if path else []

    @classmethod
    def warn_of_unknown_names(cls) -> None:
        """Logs them, each without its value: one may be misspelt."""
        for name in cls.unknown_names():
            log.warning("settings.unknown-name", name=name)


def _unknown(model: type[BaseModel], given: Any) -> Iterator[str]:
    if not isinstance(given, dict):
        return
    known = {alias: field for name, field in model.model_fields.items() for alias in (name, field.alias)}
    for name, value in given.items():
        if name not in known:
            yield str(name)
            continue
        annotation = known[name].annotation
        parts = [each for each in (annotation, *get_args(annotation)) if _is_part(each)]
        for part in parts:
            for item in value if isinstance(value, list) else [value]:
                yield from (f"{name}.{below}" for below in _unknown(part, item))


def _is_part(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
