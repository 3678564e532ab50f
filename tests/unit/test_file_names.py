"""Files of one name hold the same in each folder: whoever opens one by its name finds what they look for."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "api/onair_api",
    "crds/onair_crds",
    "dev/onair_dev",
    "images/encoder/onair_encoder",
    "images/ingest/onair_ingest",
    "images/web/compositor/src",
    "operator/onair_operator",
)
OF_EACH_PACKAGE = {"__init__", "__main__"}
MEANINGS = {
    "address": "the server, and what on it, that a url names, parsed",
    "admission": "whether somebody may publish to a stream, or go on",
    "backoff": "how long to wait before another attempt",
    "client": "our side of the requests to one other program",
    "conditions": "conditions of a resource, with the sentences that a user acts on",
    "connection": "one connection to another program: opened, written to, read, closed",
    "container": "the first process of a container of the encoder pod",
    "errors": "errors that the package raises, each a type with a meaning",
    "events": "the Kubernetes Events of a kind",
    "hook": "the endpoint that is asked whether somebody may publish",
    "ingest_secret": "the Secret that makes gateways and players known",
    "layer_failures": "layers that a page cannot show, and why",
    "logs": "how a program logs",
    "metrics": "Prometheus metrics of the package",
    "observe": "gathers all that bears on one object of a kind",
    "observed": "what is known of one object of a kind: the input of a plan",
    "operations": "the rows of a family in the table of operations; the table",
    "output": "how a kind of destination is delivered to",
    "plan": "decides what is to be done for an observed object of a kind",
    "previews": "sources as participants of rooms: as a gateway is told of them, and as it runs them",
    "process": "a program as a process, from its settings to SIGTERM",
    "program": "a show's programme: its form, and how it is made of a project",
    "record": "a resource as HTTP, RPC and events show it",
    "redirect": "the script that redirects a page's requests to an installation",
    "refusals": "why a server refused a stream, from its own words or codes",
    "request": "decodes the request of an operation",
    "requests": "decodes the requests of a family of operations",
    "room": "the room of a project",
    "routes": "paths, and what serves them",
    "scene": "all that a page draws",
    "schemas": "schemas of a family in the OpenAPI document",
    "service": "serves the operations of a family",
    "settings": "what a program is configured with",
    "snapshot": "a still of what a broadcast encodes",
    "source": "a live source: the resource, and how a page shows it",
    "status": "the next status of a resource of a kind",
    "timeline": "one clock for a stream, whatever its timestamps do",
    "unreachable": "the error of requests to a program that does not respond",
    "watched_kinds": "the kinds that a program watches, and how their objects are indexed",
}
"""Names that stand in more than one folder, and what a file of each holds, wherever it stands."""


def files_by_name() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for folder in FOLDERS:
        paths = [path for suffix in ("py", "ts", "js") for path in (ROOT / folder).rglob(f"*.{suffix}")]
        assert paths, folder
        for path in sorted(paths):
            found[path.stem.replace("-", "_")].append(str(path.relative_to(ROOT)))
    return found


def test_a_file_has_its_name_alone_or_shares_its_meaning() -> None:
    """A new pair of files of one name: rename one, or add the name here if one meaning fits both."""
    repeated = {name: paths for name, paths in files_by_name().items() if len(paths) > 1}
    strangers = {name: paths for name, paths in repeated.items() if name not in MEANINGS}
    assert {name: strangers[name] for name in strangers.keys() - OF_EACH_PACKAGE} == {}
    assert MEANINGS.keys() - repeated.keys() == set(), "these stand once by now"
