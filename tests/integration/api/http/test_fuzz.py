"""Every operation of the served document with made-up requests, valid and not: schemathesis.

A bounded run belongs to the tests; `make fuzz` runs for `ONAIR_FUZZ_S` seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.facade import FacadeThread, User

pytestmark = pytest.mark.fuzz

SECONDS = os.environ.get("ONAIR_FUZZ_S")
EXTENT = ["--max-time", SECONDS, "--max-examples", "200"] if SECONDS else ["--max-examples", "8"]
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)
STREAMS = "/event/v2/stream"
"""Answers without an end: `event/stream/test_stream_fuzz.py` drives them."""
ENDS_ITS_TOKEN = "RevokeAccessToken"
"""With it, whatever came afterwards would be refused."""
ROOT = Path(__file__).parents[4]


def test_no_request_breaks_the_facade_or_its_schema(one: FacadeThread, host: User, api_key: str) -> None:
    report = ROOT / "build/fuzz"
    command = [
        *(Path(sys.executable).with_name("schemathesis"), "run", f"{one.url}/openapi.json"),
        *("--checks", ",".join(CHECKS), *EXTENT),
        *("--phases", "examples,coverage,fuzzing,stateful"),
        *("--header", f"Authorization: Bearer {host.token}", "--header", f"X-API-Key: {api_key}"),
        *(
            "--exclude-operation-id",
            ENDS_ITS_TOKEN,
            "--exclude-path-regex",
            STREAMS,
            "--request-timeout",
            "20",
            "--no-color",
            "--warnings",
            "off",
        ),
        *(
            "--generation-database",
            "none",
            "--continue-on-failure",
            "--report-junit-path",
            report / "junit.xml",
        ),
    ]
    report.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    (report / "output.txt").write_text(result.stdout + result.stderr)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
    made = host.ok("GET", "/collection")["collections"]
    assert len(made) > 5, "hardly a request got past the credentials"
