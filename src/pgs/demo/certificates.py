"""A private certificate authority for TLS on one machine, for the demo and the benchmarks."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

GOOD_FOR = timedelta(days=30)  # longer than anybody runs a demo
_SLACK = timedelta(hours=1)  # in case the clock is set back while certificates are in use


class Issued(msgspec.Struct, frozen=True):
    """A certificate with its private key, both PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "Issued()"


class Authority:
    """Issues certificates. Its key exists in this object only. `now`: epoch seconds."""

    def __init__(self, now: int) -> None:
        self._now = datetime.fromtimestamp(now, UTC)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name(
            [x509.NameAttribute(NameOID.COMMON_NAME, "an authority on this machine")]
        )
        usage = _key_usage(key_cert_sign=True, crl_sign=True)
        built = self._builder(
            self._name, self._key.public_key(), x509.BasicConstraints(ca=True, path_length=0), usage
        )
        self._certificate = built.sign(self._key, hashes.SHA256())

    def issue(self, host: str) -> Issued:
        """Return a certificate for `host`, which may begin with `*.`."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        built = self._builder(
            subject,
            key.public_key(),
            x509.BasicConstraints(ca=False, path_length=None),
            _key_usage(digital_signature=True),
        )
        built = built.add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False
        )
        certificate = built.sign(self._key, hashes.SHA256())
        return Issued(
            certificate.public_bytes(Encoding.PEM),
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        )

    def client_context(self) -> ssl.SSLContext:
        """Return a context that trusts this authority and no other."""
        return ssl.create_default_context(
            cadata=self._certificate.public_bytes(Encoding.PEM).decode("ascii")
        )

    def _builder(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey,
        constraints: x509.BasicConstraints,
        usage: x509.KeyUsage,
    ) -> x509.CertificateBuilder:
        """Return a builder with the extensions that Python 3.13's strict verification needs."""
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _SLACK)
            .not_valid_after(self._now + GOOD_FOR)
            .add_extension(constraints, critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(issuer, critical=False)
        )


def server_context(issued: Issued) -> ssl.SSLContext:
    """Return a TLS context for a server with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # OpenSSL reads certificate and key from files only. The folder is private and removed
    # immediately.
    with TemporaryDirectory() as folder:
        chain = Path(folder) / "chain.pem"
        chain.write_bytes(issued.key + issued.certificate)
        context.load_cert_chain(chain)
    return context


def _key_usage(
    *, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False
) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )
