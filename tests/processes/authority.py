"""A certificate authority for tests, and the certificates that it gives."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_VALID = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Authority:
    """Its files are in `folder`. Who trusts `root` trusts its certificates."""

    folder: Path
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    @property
    def root(self) -> Path:
        """The file of its own certificate."""
        path = self.folder / "root.pem"
        if not path.exists():
            path.write_bytes(self._signed(_name("Tests"), self._key, is_authority=True))
        return path

    def server_context(self, *hosts: str, days: int = 90) -> ssl.SSLContext:
        """What a server for these hosts needs; its certificate ends after so many days."""
        key, path = ec.generate_private_key(ec.SECP256R1()), self.folder / f"{hosts[0]}.pem"
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path.write_bytes(self._signed(_name(hosts[0]), key, hosts, days=days) + key.private_bytes(*form))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        hosts: tuple[str, ...] = (),
        *,
        is_authority: bool = False,
        days: int = 365,
    ) -> bytes:
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(_name("Tests"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _VALID)
            .not_valid_after(now + timedelta(days=days, hours=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if hosts:
            names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
            certificate = certificate.add_extension(names, critical=False)
        return certificate.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
