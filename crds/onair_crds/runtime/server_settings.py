"""Puts what only a pod knows into the settings of a server that takes it only from its settings file.

    python -m onair_crds.runtime.server_settings SOURCE TARGET [NAME=FILE…]

Init containers run it, with a target in memory: an environment is read by whoever can inspect the
process or its pod, and ConfigMaps by many. SOURCE is YAML. NAME is dotted, as in `redis.password`, and
is set to what the file says, without white space around it. `$(HOST_CIDR)` becomes the address of
`HOST_IP` in the environment as a network of one. TARGET is JSON, which is YAML, and is readable by this
user alone.
"""

from __future__ import annotations

import ipaddress
import json
import os
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from onair_crds.runtime.core_dumps import prevent_core_dumps
from onair_crds.shapes import Document

HOST_CIDR = "$(HOST_CIDR)"


class BadSettings(Exception):
    """What is wrong with files or arguments; never with a secret in it."""


def completed(settings: Document, secrets: Mapping[str, str], host_ip: str = "") -> Document:
    """The settings with each secret in its place, and the node's address. Pure.

    Args:
        secrets: by dotted name; mappings on the way that are missing are made.
        host_ip: of the node that the pod is on; needed where the settings name it.

    Raises:
        BadSettings: something else than a mapping is on the way, or the address is none.
    """
    result = deepcopy(settings)
    if HOST_CIDR in json.dumps(settings):
        result = _replaced(result, _cidr(host_ip))
    for name, secret in secrets.items():
        *way, last = name.split(".")
        place = result
        for part in way:
            if place.get(part) is None:
                place[part] = {}
            place = place[part]
            if not isinstance(place, dict):
                raise BadSettings(f"{name}: {part} is not a mapping in the settings")
        place[last] = secret
    return result


def _cidr(host_ip: str) -> str:
    try:
        return str(ipaddress.ip_network(host_ip))
    except ValueError:
        raise BadSettings("HOST_IP: must be the address of the node") from None


def _replaced(value: Any, cidr: str) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(each, cidr) for name, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, cidr) for each in value]
    return value.replace(HOST_CIDR, cidr) if isinstance(value, str) else value


def main(arguments: Sequence[str]) -> None:
    """Writes a server's settings with values from files.

    Raises:
        BadSettings: a file cannot be read or written, or is not what it should be.
    """
    if len(arguments) < 2 or not all("=" in each for each in arguments[2:]):
        raise BadSettings("expected: SOURCE TARGET [NAME=FILE…]")
    source, target, *named = arguments
    settings = _parsed(source)
    files = [each.split("=", 1) for each in named]
    secrets = {name: _secret(file) for name, file in files}
    _write(Path(target), json.dumps(completed(settings, secrets, os.environ.get("HOST_IP", ""))))


def _parsed(source: str) -> Document:
    try:
        settings = yaml.safe_load(_read(source))
    except yaml.YAMLError:
        raise BadSettings(f"{source}: is not YAML") from None
    if not isinstance(settings, dict):
        raise BadSettings(f"{source}: is not a mapping")
    return settings


def _secret(file: str) -> str:
    if not (text := _read(file).strip()):
        raise BadSettings(f"{file}: is empty")
    return text


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except UnicodeDecodeError:
        raise BadSettings(f"{file}: is not UTF-8") from None
    except OSError as error:
        raise BadSettings(f"{file}: {error.strerror}") from None


def _write(target: Path, text: str) -> None:
    try:
        # An init container that runs again may not write what it made read-only
        target.unlink(missing_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
    except OSError as error:
        raise BadSettings(f"{target}: {error.strerror}") from None


if __name__ == "__main__":
    prevent_core_dumps()
    try:
        main(sys.argv[1:])
    except BadSettings as error:
        sys.exit(f"server_settings: {error}")
