"""Access tokens over HTTP: renewed, and known to every replica."""

from __future__ import annotations

from tests.support.facade import FacadeThread, StoredResources, User


def test_a_renewed_token_is_in_the_header(anna: User) -> None:
    response = anna.call("PUT", "/authentication/token", {})
    assert (response.status_code, response.json()) == (200, {})
    scheme, token = response.headers["Authorization"].split(" ")
    assert scheme == "Bearer"
    assert token != anna.token
    assert User(anna.facade, token).ok("GET", "/collection") == {"collections": []}


def test_replicas_share_keys(anna: User, second_facade: FacadeThread, resources: StoredResources) -> None:
    """Tokens of one replica are good at the other; the first made the key and the second found it."""
    assert User(second_facade, anna.token).ok("GET", "/collection") == {"collections": []}
    keys = [s for s in resources.secrets(resources.release) if s["type"] == "onair.dev/signing-key"]
    assert len(keys) == 1
    jwks = [f.http.get("/live/v2/authentication/jwks").json() for f in (anna.facade, second_facade)]
    assert jwks[0] == jwks[1]
    (key,) = jwks[0]["keys"]
    assert set(key) == {"alg", "kty", "use", "kid", "e", "n"}
