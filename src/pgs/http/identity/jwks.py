"""An issuer's published keys (RFC 7517): parsed strictly and cached.

They are fetched again when they are old, and when a token names an unknown key.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import structlog
import trio
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from pgs.domain import base64url
from pgs.http.outbound.fetch import Json, NotFetched
from pgs.http.transport.asgi import OnEvent, ignore_event

REFETCH_S: Final = 30.0
"""Seconds between two fetches of the issuer's keys while some are cached. Tokens that name unknown
keys cause no more fetches than that."""

RETRY_S: Final = 2.0
"""Seconds between two fetches while no keys are cached. The pause is short, since nobody can sign
in meanwhile."""

FRESH_S: Final = 300.0
"""Seconds after which keys are fetched again. A key that the issuer has withdrawn is missing from
the new set, and is no longer trusted."""

KEYS_MAX: Final = 32
"""Keys of one set that are kept. An issuer that rotates its keys publishes two or three."""

RSA_BITS: Final = range(2048, 8192 + 1)
"""Bits of an RSA key. RFC 7518, section 3.3, demands the lower bound. The upper bound limits the
cost of verifying a token."""

_log = structlog.get_logger("pgs.identity")


class PublicKey:
    """A key that verifies signatures of some algorithms, usually one."""

    def __init__(self, kid: str | None, algs: frozenset[str], key: Key) -> None:
        self.kid = kid
        self.algs = algs
        self._key = key

    def has_signed(self, alg: str, data: bytes, signature: bytes) -> bool:
        """Return whether the signature over `data` was made with this key. Never raises.

        `alg` is one of `algs`.
        """
        # Read from the table, because `get_alg` warns about the name EdDSA at each call.
        algorithm = JWSRegistry.algorithms[alg]
        try:
            return bool(algorithm.verify(data, signature, self._key))
        except (JoseError, ValueError):
            return False


def read_keys(document: Mapping[str, object]) -> tuple[PublicKey, ...]:
    """Return the keys of a set that this service can use, perhaps none.

    Other keys are ignored (RFC 7517, section 5): symmetric and private keys, other curves, keys for
    encryption, RSA keys that are too short or too long. A malformed key does not affect the others.
    """
    listed = document.get("keys")
    read = (
        (_read_key(one) for one in listed if isinstance(one, dict))
        if isinstance(listed, list)
        else ()
    )
    return tuple(key for key in read if key is not None)[:KEYS_MAX]


def _read_key(jwk: Json) -> PublicKey | None:
    kid, operations = jwk.get("kid"), jwk.get("key_ops", ["verify"])
    algs = _algorithms(jwk.get("kty"), jwk.get("crv"))
    if "alg" in jwk:  # the issuer names the one algorithm
        named = "EdDSA" if jwk["alg"] == "Ed25519" else jwk["alg"]
        algs = frozenset(alg for alg in algs if alg == named)
    if not algs or jwk.get("use", "sig") != "sig" or "d" in jwk:
        return None
    if (
        not isinstance(operations, list)
        or "verify" not in operations
        or not isinstance(kid, str | None)
    ):
        return None
    try:
        key = _import(str(jwk["kty"]), jwk)
    except (JoseError, ValueError, TypeError):
        return None
    return None if key is None else PublicKey(kid, algs, key)


def _algorithms(kty: object, crv: object) -> frozenset[str]:
    """Return the algorithms that a type of key may be used for; none for an unsupported type."""
    if kty == "RSA":
        return frozenset({"RS256", "PS256"})
    of_curves = {("EC", "P-256"): "ES256", ("EC", "P-384"): "ES384", ("OKP", "Ed25519"): "EdDSA"}
    if not isinstance(kty, str) or not isinstance(crv, str) or (kty, crv) not in of_curves:
        return frozenset()
    return frozenset({of_curves[kty, crv]})


def _import(kty: str, jwk: Json) -> Key | None:
    """Return the key built from the members that its type needs, or None if one is unusable.

    joserfc gets no other members, such as certificates, so that none can change its checks.
    """
    names = {
        "RSA": ("kty", "n", "e"),
        "EC": ("kty", "crv", "x", "y"),
        "OKP": ("kty", "crv", "x"),
    }[kty]
    members: dict[str, str | list[str]] = {
        name: value for name in names if isinstance(value := jwk.get(name), str)
    }
    if len(members) != len(names):
        return None
    if kty == "EC":
        return ECKey.import_key(members)
    if kty == "OKP":
        return OKPKey.import_key(members)
    modulus = base64url.decode(str(members["n"]))
    if modulus is None or int.from_bytes(modulus, "big").bit_length() not in RSA_BITS:
        return None
    return RSAKey.import_key(members)


class KeyCache:
    """The issuer's keys as last fetched. `load` fetches them in bounded time or raises NotFetched.

    Callers who need the keys at the same time share one fetch. The fetch goes on even if the caller
    who began it is cancelled. While the issuer cannot be reached, or publishes no usable key, the
    last good keys stay in use, however old. Counts `identity_keys_fetched` and
    `identity_keys_failed`. `fault` says why the latest fetch failed; it is None after one that
    succeeded.
    """

    def __init__(
        self, load: Callable[[], Awaitable[Sequence[PublicKey]]], on_event: OnEvent = ignore_event
    ) -> None:
        self._load = load
        self._on_event = on_event
        self._keys: tuple[PublicKey, ...] = ()
        self._flight: trio.Event | None = None
        self._next_fetch = float("-inf")
        self._fresh_until = float("-inf")
        self.fault: str | None = None

    async def find(self, alg: str, kid: str | None) -> Sequence[PublicKey] | None:
        """Return the keys that may have signed a token, usually one; None while none are cached.

        Without a `kid`, the result is empty unless exactly one key is for the algorithm (OpenID
        Connect Core, section 10.1).
        """
        if not self._keys or (kid is not None and all(key.kid != kid for key in self._keys)):
            self._fetch_if_due()
            if self._flight is not None:
                await self._flight.wait()
        elif trio.current_time() >= self._fresh_until:
            self._fetch_if_due()
        if not self._keys:
            return None
        fitting = [key for key in self._keys if alg in key.algs and kid in (None, key.kid)]
        return fitting if kid is not None or len(fitting) == 1 else ()

    async def refresh(self) -> None:
        """Fetch the keys if a fetch is due, and wait for its end."""
        self._fetch_if_due()
        if self._flight is not None:
            await self._flight.wait()

    def _fetch_if_due(self) -> None:
        if self._flight is None and trio.current_time() >= self._next_fetch:
            self._flight = trio.Event()
            trio.lowlevel.spawn_system_task(self._fetch, self._flight)

    async def _fetch(self, flight: trio.Event) -> None:
        """Fetch the keys. This is a system task, so an error that escaped would end the process."""
        try:
            keys = tuple(await self._load())
            if not keys:
                raise NotFetched("the key set holds no key that can be used")
            self._keys, self._fresh_until = keys, trio.current_time() + FRESH_S
            self.fault = None
            self._on_event("identity_keys_fetched")
        except NotFetched as error:
            self._failed(error.reason)
        except Exception as error:
            self._failed(type(error).__name__)
        finally:
            self._next_fetch = trio.current_time() + (REFETCH_S if self._keys else RETRY_S)
            self._flight = None
            flight.set()

    def _failed(self, reason: str) -> None:
        self.fault = reason
        self._on_event("identity_keys_failed")
        _log.warning("identity_keys_failed", reason=reason, have=len(self._keys))
