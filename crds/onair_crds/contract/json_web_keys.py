"""Public RSA keys as JSON Web Keys, by which access tokens are verified. Pure."""

from __future__ import annotations

import base64
import hashlib

from cryptography.hazmat.primitives.asymmetric import rsa

ALGORITHM = "RS256"
KEY_BITS = 2048


def json_web_key(public: rsa.RSAPublicKey) -> dict[str, str]:
    """The key as a JWKS has it; its `kid` is its thumbprint."""
    numbers = public.public_numbers()
    e, n = _base64url(numbers.e), _base64url(numbers.n)
    return {"alg": ALGORITHM, "kty": "RSA", "use": "sig", "kid": thumbprint(e, n), "e": e, "n": n}


def thumbprint(e: str, n: str) -> str:
    """The JWK thumbprint (RFC 7638) of an RSA key."""
    digest = hashlib.sha256(f'{{"e":"{e}","kty":"RSA","n":"{n}"}}'.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _base64url(number: int) -> str:
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
