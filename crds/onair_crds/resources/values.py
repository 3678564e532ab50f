"""Value types of fields: names of resources, URLs, times, references to Secrets."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from onair_crds.resources.base import MAX_ID, MAX_URL, SpecModel, rules

IMMUTABLE = ("self == oldSelf", "cannot be changed")

AnyJson = Annotated[Any, WithJsonSchema({"x-kubernetes-preserve-unknown-fields": True})]

_IS_NAME = (
    "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
    "must be the name of a resource: lower-case letters, digits and '-', at most 63",
)

ResourceName = Annotated[str, Field(min_length=1, max_length=MAX_ID, json_schema_extra=rules(_IS_NAME))]

ImmutableName = Annotated[
    str, Field(min_length=1, max_length=MAX_ID, json_schema_extra=rules(_IS_NAME, IMMUTABLE))
]


def _scheme_of(*schemes: str) -> AfterValidator:
    def check(value: str) -> str:
        scheme, separator, rest = value.partition("://")
        if not separator or scheme.lower() not in schemes or not rest.strip("/"):
            raise ValueError(f"must be {_spoken(schemes)} URL")
        return value

    return AfterValidator(check)


def _spoken(schemes: tuple[str, ...]) -> str:
    article = "an" if schemes[0][0] in "aeiouhrs" else "a"
    return f"{article} " + ", ".join(schemes[:-1]) + (" or " if schemes[1:] else "") + schemes[-1]


_NO_USER = (
    "!self.matches('^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@')",
    "must hold no user name or password: a url is no place for secrets",
)


_SRT_PORT = (
    "!self.matches('(?i)^srt://') || self.matches('(?i)^srt://[^/?#]*:[0-9]+([/?#]|$)')",
    "must name a port, as in srt://host:9000: SRT has no default one",
)


def _url(*schemes: str, media: bool = False) -> Any:
    listed = ", ".join(f"'{s}'" for s in schemes)
    rule = f"isURL(self) && url(self).getScheme() in [{listed}] && url(self).getHostname() != ''"
    shape = (rule, f"must be {_spoken(schemes)} URL")
    further = [_NO_USER] if media else []
    if "srt" in schemes:
        further.append(_SRT_PORT)
    return Field(min_length=1, max_length=MAX_URL, json_schema_extra=rules(shape, *further))


def _no_user(value: str) -> str:
    if "@" in re.split("[/?#]", value.partition("://")[2], maxsplit=1)[0]:
        raise ValueError(_NO_USER[1])
    return value


def _srt_port(value: str) -> str:
    scheme, _, rest = value.partition("://")
    if scheme.lower() == "srt" and not re.search(r":[0-9]+$", re.split("[/?#]", rest, maxsplit=1)[0]):
        raise ValueError(_SRT_PORT[1])
    return value


HttpUrl = Annotated[str, _url("http", "https"), _scheme_of("http", "https")]
_NoUser, _SrtPort = AfterValidator(_no_user), AfterValidator(_srt_port)
PushUrl = Annotated[
    str, _url("rtmp", "rtmps", "srt", media=True), _scheme_of("rtmp", "rtmps", "srt"), _NoUser, _SrtPort
]
SrtUrl = Annotated[str, _url("srt", media=True), _scheme_of("srt"), _NoUser, _SrtPort]
PullUrl = Annotated[str, _url("rtmp", "rtmps", media=True), _scheme_of("rtmp", "rtmps"), _NoUser]


Timestamp = Annotated[str, Field(max_length=40, json_schema_extra={"format": "date-time"})]


class SecretKeyRef(SpecModel):
    """One key of a Secret of type `onair.dev/credentials` in the same namespace."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    """Name of the Secret."""
    key: Annotated[str, Field(min_length=1, max_length=253)]
    """Key within the Secret's data."""


def read_unknown_as(fallback: str, known: Container[object]) -> BeforeValidator:
    """Reads a name that only another version has as one of this version's, so that the rest is still heard.

    Args:
        known: this version's names; what is no string is checked as ever.
    """
    return BeforeValidator(lambda name: fallback if isinstance(name, str) and name not in known else name)
