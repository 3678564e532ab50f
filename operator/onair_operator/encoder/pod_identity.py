"""Keys between operator and encoders: a certificate per pod, short tokens signed by the operator."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass
from typing import Self

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from onair_crds.contract.pod import (
    CERTIFICATE,
    CONTROL_AUDIENCE,
    OPERATOR_KEY,
    PRIVATE_KEY,
    PROGRAM_SCOPE,
    SERVER_NAME,
    SNAPSHOT_KEY,
)
from onair_operator.encoder.pem import PEM, private_pem, public_pem

CERTIFICATE_LIFE = dt.timedelta(days=30)
TOKEN_LIFE = dt.timedelta(seconds=60)


@dataclass(frozen=True)
class OperatorKey:
    """The key that the operator signs its requests to encoders with."""

    private: Ed25519PrivateKey

    @classmethod
    def generate(cls) -> Self:
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: bytes) -> Self:
        key = serialization.load_pem_private_key(pem, password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError("the operator's signing key is not an Ed25519 key")
        return cls(key)

    def private_pem(self) -> str:
        return private_pem(self.private)

    def public_pem(self) -> str:
        return public_pem(self.private)

    def token(self, pod: str, now: dt.datetime, scope: str = PROGRAM_SCOPE) -> str:
        """A token for requests to one pod, valid for a minute before and after now.

        It does not say when it was issued: a pod whose clock is behind would refuse it.
        """
        claims = {
            "aud": CONTROL_AUDIENCE,
            "sub": pod,
            "scope": scope,
            "nbf": now - TOKEN_LIFE,
            "exp": now + TOKEN_LIFE,
        }
        return jwt.encode(claims, self.private, algorithm="EdDSA")


def pod_identity(key: OperatorKey, now: dt.datetime) -> dict[str, str]:
    """Makes the content of a pod's identity volume.

    Its own certificate and key, our public key, all as PEM text, and the token
    that lets the facade ask it for snapshots.
    """
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, SERVER_NAME)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + CERTIFICATE_LIFE)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(SERVER_NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(private, hashes.SHA256())
    )
    return {
        CERTIFICATE: certificate.public_bytes(PEM).decode(),
        PRIVATE_KEY: private_pem(private),
        OPERATOR_KEY: key.public_pem(),
        SNAPSHOT_KEY: secrets.token_urlsafe(32),
    }
