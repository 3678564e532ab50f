"""Who may steer a pod, and what it refuses."""

from __future__ import annotations

import subprocess
import time

import httpx
import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.pod_pair import POD, PodPair, programme

from onair_crds.contract.program import EncoderStatus

pytestmark = pytest.mark.media


def assert_only_the_operator_may_steer(pair: PodPair) -> None:
    def status(**headers: str) -> int:
        return pair.http.get("/v1/status", headers=headers).status_code

    assert status() == 401
    assert status(Authorization="Bearer nonsense") == 401
    assert status(**pair.token("another-pod")) == 401
    assert status(**pair.token(age_s=3600)) == 401
    assert status(**pair.token(scope="snapshot")) == 403
    assert status(**pair.token(), Host="localhost:8443") == 421
    assert status(**pair.token(), Host="evil.example") == 421
    assert status(**pair.token(), Host=f"{POD}:8443") == 200


def assert_the_facades_key_opens_snapshots_alone(pair: PodPair) -> None:
    key = pair.snapshot_key
    assert pair.http.get("/v1/status", headers=key).status_code == 401
    assert pair.http.put("/v1/program", content=b"{}", headers=key).status_code == 401
    assert pair.http.put("/v1/contact", content=b'{"replaced": true}', headers=key).status_code == 401
    assert pair.http.get("/v1/snapshot").status_code == 401
    response = pair.http.get("/v1/snapshot", headers=key)
    assert (response.status_code, response.json()) == (503, {"message": "nothing was encoded yet"})


def assert_a_bad_programme_is_refused_by_field_and_without_its_secrets(pair: PodPair) -> None:
    body = b'{"project": {"key": "s3cret"}}'
    response = pair.http.put("/v1/program", content=body, headers=pair.token())
    assert response.status_code == 400
    assert "project" in {v["field"] for v in response.json()["violations"]}
    assert "s3cret" not in response.text


def test_who_may_steer_and_what_is_refused(pair: PodPair, page: str, far_end: RtmpContainer) -> None:
    assert_only_the_operator_may_steer(pair)
    assert_the_facades_key_opens_snapshots_alone(pair)
    assert_a_bad_programme_is_refused_by_field_and_without_its_secrets(pair)
    assert pair.put(programme(page, far_end)).status_code == 200
    # Of an epoch that is over, or of an earlier revision
    assert pair.put(programme(page, far_end, epoch=1)).status_code == 409
    stale = programme(page, far_end).model_copy(update={"revision": 0})
    assert pair.http.put("/v1/program", content=stale.wire(), headers=pair.token()).status_code == 409
    with pytest.raises(httpx.RemoteProtocolError):
        follow_until_killed(pair)


def follow_until_killed(pair: PodPair) -> None:
    """Reads the status stream until the container is killed; every line is a status, with each heartbeat."""
    began = time.monotonic()
    with pair.http.stream("GET", "/v1/status", params={"follow": "1"}, headers=pair.token()) as stream:
        for number, line in enumerate(stream.iter_lines()):
            EncoderStatus.model_validate_json(line)
            assert time.monotonic() - began < 5 * (number + 1)
            if number == 1:
                subprocess.run(["docker", "kill", f"{pair.name}-encoder"], check=True, capture_output=True)
