"""Authenticates calls with an API key, in the order of checks that the contract promises.

Nothing here waits, so nothing changes between two checks.
"""

from __future__ import annotations

from typing import Final

import msgspec
import trio

from pgs.actors.shared.admission import policy_of
from pgs.actors.shared.registry import KnownKey
from pgs.domain.environments import Environment
from pgs.domain.errors import BadRequest, Refusal, refuse
from pgs.domain.keys import hash_of_bearer, parse_bearer, parse_key
from pgs.domain.token_buckets import policy_header, rate_header
from pgs.domain.versions import choose
from pgs.http.api.endpoint import Endpoint, Principal
from pgs.http.api.hints import invalid_key
from pgs.http.api.services import Services
from pgs.http.api.versioning import ending
from pgs.http.transport.asgi import Headers

VERSION_HEADER = b"x-service-api-version"

_AUTHORIZATION: Final = b"authorization"

VERDICTS_MAX: Final = 10_000
"""Keys for which the result of the checks of key and account is kept, about 500 bytes each. When
one more key calls, all results are dropped, and each key is checked again when it next calls."""

_RATE_LIMITED = refuse("rate_limited")
_INVALID_KEY = refuse("invalid_key")


_Stamps = tuple[tuple[bytes, bytes], ...]


class Verdict(msgspec.Struct, frozen=True):
    """Who makes a call, or why the call is refused.

    `outcome` is the principal (None where the call takes no credential) or a refusal. `headers`
    go with every answer to the call, except a 401, which has those of `unauthorised`. `known` is
    the call's key, even if the call is refused; None if the registry does not know the key, or was
    last read too long ago.
    """

    outcome: msgspec.Struct | None
    headers: tuple[tuple[bytes, bytes], ...] = ()
    known: KnownKey | None = None


class _KeyVerdict(msgspec.Struct, frozen=True):
    """The part of a verdict that depends only on the registry's record of a key and its account.

    `principal`: who calls, with the pinned version. `pin`: the header that states that version.
    `policy`: the header that states the size of the partner's bucket. `refusal`: why every call
    with this key is refused, or None.
    """

    known: KnownKey
    principal: Principal
    pin: tuple[bytes, bytes]
    policy: tuple[bytes, bytes]
    refusal: Refusal | None


def overloaded(retry_after: int) -> tuple[tuple[bytes, bytes], ...]:
    """Return the `Retry-After` header of a 429: at least one second."""
    return ((b"retry-after", b"%d" % max(1, retry_after)),)


def unauthorised(services: Services) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers of every 401.

    A 401 carries the current version, whatever the partner has pinned, and no rate headers, so that
    it reveals nothing about the key.
    """
    current = b"%d" % services.parts.versions.current
    return ((VERSION_HEADER, current), (b"www-authenticate", b"Bearer"))


class KeyAuthenticator:
    """Authenticates calls with an API key.

    The part of a verdict that depends only on the registry's record of the key and its account is
    kept. It is made again when the registry has another record.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._parts = services.parts
        self._directory = services.directory
        self._key_verdicts: dict[str, _KeyVerdict] = {}  # by the key's hash

    def judge(self, endpoint: Endpoint, headers: Headers, now: float) -> Verdict:
        """Return the verdict on a call. `now` is on trio's clock."""
        # 1. The header and the key's format. If the registry knows the text, it is a key, and its
        # format is not checked: the check would cost as much as all other steps before the rate
        # limits.
        parts, fields = self._parts, dict(headers)
        given = fields.get(_AUTHORIZATION, b"")
        versions = [fields[VERSION_HEADER]] if VERSION_HEADER in fields else []
        if len(fields) < len(headers):  # a header is given more than once
            given, versions = _read_repeated(headers)
        known = parts.registry.find_key(hash_of_bearer(given))
        if known is None:
            return self._judge_unknown(headers, given, now)

        # 2. The registry. If its last successful read is too long ago, no key is judged.
        if parts.registry.is_closed(now):
            return self._judge_unread(now)

        # 3. Rate limits. A known key draws from its partner's bucket, even if it is refused later.
        account, key = known.account, known.key
        key_verdict = self._key_verdicts.get(key.key_hash)
        if key_verdict is None or key_verdict.known is not known:
            key_verdict = self._judge_key(known)
        admission = self._directory.partner(account.partner_id).admission.admit(account, now)
        stamps: _Stamps = (
            key_verdict.pin,
            key_verdict.policy,
            (b"ratelimit", rate_header(admission.answer)),
        )
        if admission.refused_by is not None:
            parts.on_event(f"rate_limited_by_{admission.refused_by}")
            return Verdict(_RATE_LIMITED, stamps + overloaded(admission.retry_after), known)

        # 4. Whether the key is revoked.
        at = parts.clock.now()
        if key.revokes_at is not None and key.is_revoked(at):
            return Verdict(_INVALID_KEY, unauthorised(self._services), known)
        parts.key_uses.note(account.partner_id, key.key_id, at)

        # 5. The deployment's environment. 6. The account.
        if key_verdict.refusal is not None:
            return Verdict(key_verdict.refusal, stamps, known)

        if versions or endpoint.only_key is not None or parts.versions.notices:
            return self._judge_version(endpoint, versions, key_verdict, stamps, at)
        return Verdict(key_verdict.principal, stamps, known)

    def _judge_unknown(self, headers: Headers, given: bytes, now: float) -> Verdict:
        """Take the first three steps for a text that the registry does not know."""
        services, process = self._services, self._directory.admission.process
        text = parse_bearer(given)
        if text is None or parse_key(text) is None:
            return Verdict(invalid_key(headers), unauthorised(services))
        if self._parts.registry.is_closed(now):
            return self._judge_unread(now)
        unknown = process.admit_unknown(now)  # unknown keys share a bucket
        if not unknown.allowed:
            return Verdict(_RATE_LIMITED, _current(services) + overloaded(unknown.retry_after))
        return Verdict(_INVALID_KEY, unauthorised(services))

    def _judge_unread(self, now: float) -> Verdict:
        """Return the verdict on a call while the registry is closed."""
        wait_s, current = self._directory.admission.process.wait_s(now), _current(self._services)
        if wait_s:
            return Verdict(_RATE_LIMITED, current + overloaded(wait_s))
        return Verdict(refuse("registry_unavailable"), current)

    def _judge_version(
        self,
        endpoint: Endpoint,
        named: list[bytes],
        key_verdict: _KeyVerdict,
        stamps: _Stamps,
        at: int,
    ) -> Verdict:
        """Take the last steps for a key that may make calls; return the verdict on the call.

        `named`: the versions that the call asks for. `judge` takes these steps only if the call
        asks for a version, if notice of a version's end has been given, or if the endpoint takes
        keys of one environment only.
        """
        services, known, principal = self._services, key_verdict.known, key_verdict.principal
        # 7. The version. 8. The kind of key.
        version = (
            _chosen_version(services, named, principal.version) if named else principal.version
        )
        if isinstance(version, Refusal):
            return Verdict(version, stamps, known)
        if version != principal.version:
            principal = Principal(known.account, known.key, version)
            stamps = ((VERSION_HEADER, b"%d" % version), *stamps[1:])
        versions = services.parts.versions
        if versions.notices:
            stamps += ending(version, versions, at, services.base_url)
        if endpoint.only_key is not None and known.key.environment != endpoint.only_key:
            return Verdict(_wrong_key(services, endpoint), stamps, known)
        return Verdict(principal, stamps, known)

    def _judge_key(self, known: KnownKey) -> _KeyVerdict:
        account, key = known.account, known.key
        pin = account.pins[key.environment]
        refusal = _wrong_environment(self._services.restricted_to, key.environment) or (
            None if account.active else refuse("partner_inactive")
        )
        if len(self._key_verdicts) >= VERDICTS_MAX:
            self._key_verdicts.clear()
        key_verdict = _KeyVerdict(
            known,
            Principal(account, key, pin),
            (VERSION_HEADER, b"%d" % pin),
            (b"ratelimit-policy", policy_header(policy_of(account))),
            refusal,
        )
        self._key_verdicts[key.key_hash] = key_verdict
        return key_verdict


def _read_repeated(headers: Headers) -> tuple[bytes, list[bytes]]:
    """Return the value of `Authorization`, empty if it is given twice, and all named versions."""
    given = [value for name, value in headers if name == _AUTHORIZATION]
    versions = [value for name, value in headers if name == VERSION_HEADER]
    return given[0] if len(given) == 1 else b"", versions


def _current(services: Services) -> tuple[tuple[bytes, bytes], ...]:
    return ((VERSION_HEADER, b"%d" % services.parts.versions.current),)


def _wrong_key(services: Services, endpoint: Endpoint) -> Refusal:
    if endpoint.wrong_key == "live_theme_not_writable":
        return refuse(endpoint.wrong_key, changeItAt=f"{services.base_url}/portal/theme")
    return refuse(endpoint.wrong_key)


def _chosen_version(services: Services, named: list[bytes], pin: int) -> int | Refusal:
    """Return the version that the call asks for, or the refusal."""
    if len(named) > 1:
        return refuse("unsupported_api_version")
    return choose(named[0], pin, services.parts.versions)


def _wrong_environment(
    restricted_to: Environment | None, environment: Environment
) -> Refusal | None:
    if restricted_to is None or environment == restricted_to:
        return None
    return refuse("test_key_against_live" if environment == "test" else "live_key_against_test")


def recheck(services: Services, principal: Principal) -> Refusal | BadRequest | None:
    """Return the refusal of a call that was held for a while, or None if it may go on."""
    registry = services.parts.registry
    if registry.is_closed(trio.current_time()):
        return refuse("registry_unavailable")
    known = registry.find_key(principal.key.key_hash)
    if known is None or known.key.is_revoked(services.parts.clock.now()):
        return _INVALID_KEY
    return None if known.account.active else refuse("partner_inactive")
