"""What the script that redirects is told."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter, ValidationError

from onair_crds.contract.redirect import REDIRECTED_HOSTS, RedirectedHost, redirect_script, with_settings

HOST: TypeAdapter[str] = TypeAdapter(RedirectedHost)


def test_the_script_ends_with_its_settings() -> None:
    script = redirect_script(["b.example", "a.example"], "https://onair.example.org/x")
    settings = script.rsplit("})(", 1)[1].removesuffix(");\n")
    assert json.loads(settings) == {
        "hosts": ["a.example", "b.example"],
        "base": "https://onair.example.org/x",
    }


def test_a_script_without_a_parameter_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="takes no settings"):
        with_settings("1 + 1", {})


@pytest.mark.parametrize("host", [*REDIRECTED_HOSTS, "a.example:8443", "localhost", "10.0.0.1"])
def test_hosts_are_as_browsers_write_them(host: str) -> None:
    assert HOST.validate_python(host) == host


@pytest.mark.parametrize(
    "host", ["", "https://a.example", "A.example", "a.example/", "a b", "*", "a.example:"]
)
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(ValidationError):
        HOST.validate_python(host)
