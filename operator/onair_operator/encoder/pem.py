"""Private and public keys as PEM text."""

from __future__ import annotations

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PEM = serialization.Encoding.PEM
PrivateKey = Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def private_pem(key: PrivateKey) -> str:
    """A private key as PEM, not encrypted."""
    return key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def public_pem(key: PrivateKey) -> str:
    """The public half of a private key as PEM."""
    return key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
