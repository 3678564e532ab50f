"""The passphrase of an SRT destination, which is in its url over HTTP alone."""

from __future__ import annotations

import base64

import pytest
from tests.support.destinations import address_of, secrets_of
from tests.support.facade import Show, StoredResources
from tests.support.tokens import invite

KEY = "stream-key-5f2b91"
PHRASE = "a phrase & more"
IN_URL = "passphrase=a%20phrase%20%26%20more"
SRT_URL = "srt://media.example:9000?streamid=s"


@pytest.mark.parametrize("member", ["rtmpPush", "srtPush"])
def test_a_passphrase_in_an_url_is_a_secret(show: Show, resources: StoredResources, member: str) -> None:
    key = {"key": KEY} if member == "rtmpPush" else {}
    url = f"srt://media.example:9000?{IN_URL}&streamid=s"
    created = show.destination(address={member: {"url": url, **key}}, metadata={"a": 1})
    shown = {member: {"url": f"{SRT_URL}&{IN_URL}", **key}}
    assert created["address"] == shown
    stored = address_of(resources, created)[member]
    assert stored["url"] == SRT_URL
    (secret,) = secrets_of(resources, created)
    assert base64.b64decode(secret["data"]["passphrase"]).decode() == PHRASE
    assert "phrase%20" not in str(resources.get("destinations", created["destinationId"]))
    path = f"{show.path}/destination/{created['destinationId']}"
    seen = invite(show, "CONTRIBUTOR").ok("GET", path)["destination"]["address"]
    assert seen == {member: {"url": SRT_URL}}
    # Written back as it was read it changes nothing, and so does what does not name the url.
    version = resources.get("destinations", created["destinationId"])["metadata"]["resourceVersion"]
    assert show.user.ok("PATCH", path, created)["destination"]["address"] == shown
    assert resources.get("destinations", created["destinationId"])["metadata"]["resourceVersion"] == version
    show.user.ok("PATCH", path, {"updateMask": "enabled", "enabled": False})
    assert address_of(resources, created)[member] == stored
    # A new url decides again whether there is one.
    body = {"address": {member: {"url": "srt://b.example:1"}}}
    assert show.user.ok("PATCH", path, body)["destination"]["address"] == {
        member: {"url": "srt://b.example:1", **key}
    }
    assert "passphraseSecretRef" not in address_of(resources, created)[member]


def test_a_passphrase_of_the_wrong_length_is_refused(show: Show) -> None:
    body = {"address": {"srtPush": {"url": "srt://a.example:1?passphrase=short"}}}
    response = show.user.call("POST", f"{show.path}/destination", body)
    assert response.status_code == 400
    assert "10 to 79 characters" in response.text
    assert "short" not in response.text
