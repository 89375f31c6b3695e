"""After a journey that uses every kind of secret, none is on disk or in the log in clear."""

import base64
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import structlog

from pgs.clock import SystemClock
from pgs.demo.inbox import Inbox
from pgs.domain.totp import STEP_S, code_at
from pgs.logs import logging_to
from tests.journeys.admin_client import BOSS, AdminClient, open_admin_with_webhook, person
from tests.journeys.client import check_refusal, ok
from tests.journeys.leaks import leaks, shaped_like_secrets, spellings
from tests.journeys.partners import BOTH, seat_body
from tests.journeys.places import Place
from tests.journeys.play import match, mint, socket_of

TOTP_SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Write log lines of all levels to a file for a block."""
    was, root = structlog.get_config(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    with path.open("wb", buffering=0) as file, logging_to(file, "debug", SystemClock()):
        # A cached logger would outlive this block.
        structlog.configure(cache_logger_on_first_use=False)
        try:
            yield
        finally:
            structlog.configure(**was)
            root.handlers[:], root.level = handlers, level


async def test_after_a_journey_with_every_kind_of_secret_none_is_in_files_logs_or_metrics(
    tmp_path: Path, place: Place
) -> None:
    place, log = place / "data", tmp_path / "log"
    secrets: dict[str, str] = {}
    with logged_to(log):
        async with open_admin_with_webhook(place, log_level="debug") as (admin, inbox):
            await use_authenticators(admin, secrets)
            key_id = await use_keys_and_webhooks(admin, inbox, secrets)
            await play(admin, inbox, secrets)
            await use_identity_tokens(admin, secrets)
            await admin.call_ok("DELETE", f"keys/{key_id}")
            await admin.call_ok("DELETE", "members/dev")
            await admin.call_ok("POST", "emergency-stop", {"environment": "test"})
            metrics = {}
            for internal in admin.service.internals:
                status, text = await internal.get("/internal/metrics")
                assert status == 200
                metrics[f"metrics of {internal.base_url}"] = text
            while_running = place.contents()
        places = {
            **{f"{name}, while it ran": content for name, content in while_running.items()},
            **place.contents(),
            **metrics,
            "log": log.read_bytes(),
        }
    assert len(set(secrets.values())) == len(secrets) == 14
    # The search looks in the right places: it finds values that must be there.
    stored = "event" if place.url else "pgs.db"
    assert {stored, f"{stored}, while it ran", "keys", "log"} <= places.keys()
    assert b"totp.activated" in places[stored]
    assert b"/partner/admin/account" in places["log"]
    assert leaks(secrets, places | {"a leak": b"... " + secrets["totp"].encode()}) == [
        ("totp", "a leak"),
        *leaks(secrets, places),
    ]
    assert leaks(secrets, places) == []
    assert {
        place: found for place, content in places.items() if (found := shaped_like_secrets(content))
    } == {}


async def use_authenticators(admin: AdminClient, secrets: dict[str, str]) -> None:
    """Enrol an authenticator twice before its first code, activate it, and replace it."""
    now = admin.service.core.parts.clock.now
    await admin.add_member("dev", "developer", "none")
    secrets["totp, never used"] = (await admin.call_ok("POST", "totp/enroll", who="dev"))["secret"]
    enrolled = await admin.call_ok("POST", "totp/enroll", who="dev")
    secrets["totp"], secrets["otpauth"] = enrolled["secret"], enrolled["otpauthUri"]
    await admin.call("POST", "totp/verify", {"code": "000000"}, who="dev")
    await admin.call_ok(
        "POST", "totp/verify", {"code": code_at(secrets["totp"], now() - STEP_S)}, who="dev"
    )
    secrets["totp, the next"] = (await admin.call_ok("POST", "totp/enroll", who="dev"))["secret"]
    await admin.call_ok(
        "POST",
        "totp/verify",
        {"code": code_at(secrets["totp, the next"], now())},
        who="dev",
    )


async def use_keys_and_webhooks(admin: AdminClient, inbox: Inbox, secrets: dict[str, str]) -> str:
    """Mint, rotate, use and misuse keys and webhook secrets. Return the id of the first key."""
    public = admin.service.public
    await admin.call_ok("POST", f"games/{BOTH}/test")
    await admin.call_ok("POST", "rake-terms", {"version": 1})
    made = await admin.call_ok("POST", "keys", {"environment": "test", "label": "shop"}, who="dev")
    secrets["key"] = made["apiKey"]
    secrets["key, rotated"] = (await admin.call_ok("POST", f"keys/{made['keyId']}/rotate"))[
        "apiKey"
    ]
    secrets["live key"] = (
        await admin.call_ok("POST", "keys", {"environment": "live", "label": "shop"})
    )["apiKey"]
    secrets["webhook"] = (await admin.call_ok("POST", "webhooks/test", {"url": inbox.url}))[
        "signingSecret"
    ]
    secrets["webhook, live"] = (await admin.call_ok("POST", "webhooks/live", {"url": inbox.url}))[
        "signingSecret"
    ]
    secrets["webhook, rotated"] = inbox.secret = (
        await admin.call_ok("POST", "webhooks/test/rotate-secret")
    )["signingSecret"]
    check_refusal(await public.call("GET", "/partner/me", secrets["key"][:-1]), 401, "invalid_key")
    check_refusal(
        await public.call("GET", f"/partner/seats/{secrets['key']}", secrets["key"]),
        404,
        "seat_not_found",
    )
    check_refusal(
        await public.call("GET", f"/partner/results?cursor={secrets['key']}", secrets["key"]),
        400,
        "invalid_cursor",
    )
    ok(await public.call("GET", "/partner/me", secrets["live key"]))
    return str(made["keyId"])


async def play(admin: AdminClient, inbox: Inbox, secrets: dict[str, str]) -> None:
    """Mint a session, and play a match of which a nudge tells."""
    public = admin.service.public
    secrets["session"] = await mint(public, secrets["key"], "ann")
    match_id = await match(public, secrets["key, rotated"], "ann", "bob")
    async with socket_of(public.next_url, secrets["session"]) as bot:
        await bot.ask("join")
    nudge = await inbox.next(within_s=20)
    assert nudge is not None
    assert nudge.problem is None
    ok(
        await public.call(
            "POST",
            f"/partner/test/matches/{match_id}/decide",
            secrets["key"],
            {"outcome": "no_contest"},
        )
    )
    ok(await public.call("POST", "/partner/matches", secrets["key"], seat_body("cleo", "c")))


async def use_identity_tokens(admin: AdminClient, secrets: dict[str, str]) -> None:
    """Sign in with a valid identity token, with one of somebody unknown, and with a forged one."""
    public = admin.service.public
    secrets["identity"] = admin.issuer.mint_token(person(BOSS))
    ok(await public.call("GET", "/partner/admin/account", secrets["identity"]))
    secrets["identity, strange"] = admin.issuer.mint_token(person("stranger"))
    check_refusal(
        await public.call("GET", "/partner/admin/account", secrets["identity, strange"]),
        403,
        "not_a_partner_admin",
    )
    secrets["identity, forged"] = secrets["identity"][:-20] + "A" * 20
    check_refusal(
        await public.call("GET", "/partner/admin/account", secrets["identity, forged"]),
        401,
        "sign_in_required",
    )


@pytest.mark.parametrize(
    "spell",
    [
        lambda raw: raw,
        bytes.hex,
        lambda raw: raw.hex().upper(),
        base64.b64encode,
        base64.urlsafe_b64encode,
        base64.b32encode,
        lambda raw: base64.b64encode(b"x" + raw),
        lambda raw: base64.b64encode(b"xy" + raw + b"z"),
        lambda raw: base64.b32encode(b"xyz" + raw + b"zz"),
        lambda raw: base64.b32decode(raw),
        lambda raw: base64.b32decode(raw).hex(),
        lambda raw: base64.b64encode(b"-" + base64.b32decode(raw)),
    ],
)
def test_the_search_finds_a_secret_in_every_encoding(spell: Callable[[bytes], str | bytes]) -> None:
    spelled = spell(TOTP_SECRET.encode())
    content = b"before" + (spelled.encode() if isinstance(spelled, str) else spelled) + b"after"
    assert any(spelling in content for spelling in spellings(TOTP_SECRET))


@pytest.mark.parametrize(
    "secret",
    [
        "pgs_test_" + "aB3" * 15 + "z",
        "pgs_live_" + "0" * 46,
        "whsec_" + "A" * 43,
        "pgs1.0af.k1." + "a" * 60 + "." + "b" * 43,
    ],
)
def test_the_format_of_a_secret_is_recognised_in_clear_and_encoded(secret: str) -> None:
    raw = secret.encode()
    for content in (
        raw,
        b'"' + raw + b'"',
        b"x" + raw.hex().encode(),
        base64.b64encode(b"??" + raw),
        base64.b32encode(b"?" + raw),
    ):
        assert shaped_like_secrets(content) or (secret.startswith("pgs1") and raw not in content)
    assert not shaped_like_secrets(b"pgs_test_ and pgs_live_ are prefixes; whsec_ too; pgs1.0af.x")
