"""The key that the operator signs tokens of composition pages with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from onair_crds.contract.json_web_keys import ALGORITHM, KEY_BITS, json_web_key
from onair_crds.shapes import Claims
from onair_operator.encoder.pem import private_pem, public_pem

MAX_KEPT = 10_000


@dataclass(frozen=True)
class RendererKey:
    private: rsa.RSAPrivateKey
    _tokens: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """By their id: a signature takes a millisecond, and every look at a project wants one."""

    @classmethod
    def generate(cls) -> Self:
        """Makes a new key, which takes a tenth of a second of CPU."""
        return cls(rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS))

    @classmethod
    def from_pem(cls, pem: bytes) -> Self:
        key = serialization.load_pem_private_key(pem, password=None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise TypeError("the key of renderers is not an RSA key")
        return cls(key)

    def private_pem(self) -> str:
        return private_pem(self.private)

    def public_pem(self) -> str:
        return public_pem(self.private)

    def token(self, claims: Claims) -> str:
        """The token of these claims: the same for the same ones, as the signature has nothing random."""
        token_id = str(claims["jti"])
        token = self._tokens.get(token_id)
        if token is None:
            kid = json_web_key(self.private.public_key())["kid"]
            token = jwt.encode(claims, self.private, algorithm=ALGORITHM, headers={"kid": kid})
            if len(self._tokens) >= MAX_KEPT:
                self._tokens.clear()
            self._tokens[token_id] = token
        return token
