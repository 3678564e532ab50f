"""Settings of a program: the YAML file that `ONAIR_CONFIG` names, and environment variables over it.

A variable is `ONAIR_` and the field's name; parts of a nested one are joined by `__`.
"""

from __future__ import annotations

import os

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

CONFIG_VARIABLE = "ONAIR_CONFIG"


class Part(BaseModel):
    """A group of settings, camelCase in the file."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
        extra="forbid",
    )


class ProgramSettings(BaseSettings):
    """All settings of one program. An unknown name is refused."""

    model_config = SettingsConfigDict(
        env_prefix="ONAIR_",
        env_nested_delimiter="__",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
        extra="forbid",
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
