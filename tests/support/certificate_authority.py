"""A CA for tests, which issues certificates to servers and their clients."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOST = "127.0.0.1"
LOCAL = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(HOST)))


class CertificateAuthority:
    """A CA for the lifetime of one test, or of one control plane."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.certificate = folder / "ca.crt"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "onair-test-ca")])
        ca_certificate = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = ca_certificate.public_bytes(serialization.Encoding.PEM)
        self.certificate.write_bytes(self.pem)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(days=7))
        )

    def issue(
        self,
        file_name: str,
        user: str,
        groups: Sequence[str] = (),
        names: Sequence[x509.GeneralName] = LOCAL,
    ) -> tuple[Path, Path]:
        """Issues a certificate for client and server use; returns the paths of certificate and key."""
        key = ec.generate_private_key(ec.SECP256R1())
        organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        certificate = (
            self._builder(subject, key.public_key())
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        paths = self.folder / f"{file_name}.crt", self.folder / f"{file_name}.key"
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        write_private_key(paths[1], key)
        return paths

    def issue_for(self, host: str) -> tuple[Path, Path]:
        """Issues a certificate for a host name alone; returns the paths of certificate and key."""
        return self.issue(host, host, names=[x509.DNSName(host)])


def write_private_key(path: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    """Writes a key as unencrypted PEM, readable by its owner only."""
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
