"""Commands about partners, with and without a running service."""

from pathlib import Path

import msgspec
import pytest

from pgs.actors.messages.account.factors import EnrollTotp, Enrolment, VerifyTotp
from pgs.actors.messages.account.lifecycle import CreatePartner
from pgs.actors.messages.account.members import AcceptInvite
from pgs.actors.messages.account.settings import CorrectAccount
from pgs.app import open_core
from pgs.config import Config
from pgs.domain.errors import refuse
from pgs.domain.keys import hash_key
from pgs.domain.totp import code_at
from pgs.operator import records as r
from pgs.operator.command import OperatorCommand
from pgs.operator.commands.game import GAME_LICENCE, LicenceStep
from pgs.operator.commands.partner import (
    PARTNER_CREATE,
    PARTNER_DEACTIVATE,
    PARTNER_INVITE,
    PARTNER_LIST,
    PARTNER_REACTIVATE,
    PARTNER_RESET_AUTHENTICATOR,
    PARTNER_SET,
    PARTNER_SHOW,
    MemberOf,
    NewInvite,
    NewPartner,
    PartnerId,
    PartnersAfter,
    PartnerSettings,
)
from pgs.operator.commands.terms import TERMS_END
from pgs.operator.messages import Done
from tests.operator.support import Operator, prepare, serving


async def test_a_new_partner_has_an_invite_and_nothing_else(operator: Operator) -> None:
    created = await operator.done(
        PARTNER_CREATE, NewPartner("bravo", "Bravo", "boss@bravo.example")
    )
    assert created.invite_id.startswith("ivt_")
    shown = await operator.done(PARTNER_SHOW, PartnerId("bravo"))
    assert (shown.name, shown.active, shown.keys, shown.licences) == ("Bravo", True, [], [])
    assert shown.games == {"test": [], "live": []}
    assert shown.agreed_terms_version is None


async def test_a_partner_that_exists_is_not_created_again(operator: Operator) -> None:
    refusal = await operator.refused(
        PARTNER_CREATE, NewPartner("acme", "Acme", "boss@acme.example")
    )
    assert "exists already" in refusal.error


@pytest.mark.parametrize(
    ("partner_id", "name", "email", "reason"),
    [
        ("Acme", "x", "a@b.example", None),
        ("bravo", " ", "a@b.example", None),
        ("bravo", "x", "nobody", "invalid_email"),
    ],
)
async def test_a_partner_with_an_invalid_id_name_or_address_is_refused(
    operator: Operator, partner_id: str, name: str, email: str, reason: str | None
) -> None:
    refusal = await operator.refused(PARTNER_CREATE, NewPartner(partner_id, name, email))
    assert refusal.reason == reason
    assert "no partner" in (await operator.refused(PARTNER_SHOW, PartnerId(partner_id))).error


async def test_partners_are_listed_by_id_in_pages(operator: Operator) -> None:
    await operator.done(PARTNER_CREATE, NewPartner("aaa", "First", "boss@aaa.example"))
    whole = await operator.done(PARTNER_LIST, PartnersAfter())
    assert [partner.partner_id for partner in whole.partners] == ["aaa", "acme"]
    assert whole.next_after is None
    first = await operator.done(PARTNER_LIST, PartnersAfter(limit=1))
    assert ([partner.partner_id for partner in first.partners], first.next_after) == (
        ["aaa"],
        "aaa",
    )
    second = await operator.done(PARTNER_LIST, PartnersAfter("aaa", limit=1))
    assert ([partner.partner_id for partner in second.partners], second.next_after) == (
        ["acme"],
        None,
    )


async def test_the_record_of_a_partner_has_no_key_and_no_hash(tmp_path: Path) -> None:
    partner = await prepare(tmp_path)
    answer = await Operator(tmp_path).ask(PARTNER_SHOW, PartnerId("acme"))
    assert isinstance(answer, Done)
    text = bytes(answer.result).decode()
    shown = msgspec.json.decode(text)
    assert [key["last4"] for key in shown["keys"]] == [
        key[-4:] for key in _keys_in_order(shown, partner.test_key, partner.live_key)
    ]
    for key in (partner.test_key, partner.live_key):
        assert key not in text
        assert hash_key(key) not in text
    assert partner.test_key not in repr(partner)


def _keys_in_order(
    shown: dict[str, list[dict[str, str]]], test_key: str, live_key: str
) -> list[str]:
    return [test_key if key["environment"] == "test" else live_key for key in shown["keys"]]


async def test_deactivation_ends_all_play_and_counts_it(operator: Operator) -> None:
    off = await operator.done(PARTNER_DEACTIVATE, PartnerId("acme"))
    # Two are ended: a match and a waiting seat.
    assert (off.active, off.switched_off_by, off.ended) == (False, "platform", 2)
    assert (
        await operator.refused(PARTNER_DEACTIVATE, PartnerId("acme"))
    ).reason == "account_inactive"
    on = await operator.done(PARTNER_REACTIVATE, PartnerId("acme"))
    assert (on.active, on.switched_off_by) == (True, None)
    assert (
        await operator.refused(PARTNER_REACTIVATE, PartnerId("acme"))
    ).reason == "account_active"


async def test_burst_and_rate_can_be_set_separately(operator: Operator) -> None:
    assert (await operator.done(PARTNER_SET, PartnerSettings("acme", burst=1000))).burst == 1000
    both = await operator.done(PARTNER_SET, PartnerSettings("acme", rate=500))
    assert (both.burst, both.rate) == (1000, 500)
    assert (
        "at least 1" in (await operator.refused(PARTNER_SET, PartnerSettings("acme", rate=0))).error
    )
    assert "Nothing to set" in (await operator.refused(PARTNER_SET, PartnerSettings("acme"))).error


async def test_a_correction_is_made_as_a_whole_or_not_at_all(operator: Operator) -> None:
    mended = await operator.done(
        PARTNER_SET, PartnerSettings("acme", name=" Acme Ltd ", admin_domain="ACME.example", rate=7)
    )
    assert (mended.name, mended.admin_domain, mended.rate) == ("Acme Ltd", "acme.example", 7)
    again = await operator.done(PARTNER_SET, PartnerSettings("acme", admin_domain="other.example"))
    assert again.admin_domain == "other.example"
    for wrong in (
        PartnerSettings("acme", name="New", admin_domain="com"),
        PartnerSettings("acme", name="New", burst=0),
        PartnerSettings("acme", name="", burst=9),
        PartnerSettings("acme", name="N\new", burst=9),
    ):
        await operator.refused(PARTNER_SET, wrong)
    kept = await operator.done(PARTNER_SET, PartnerSettings("acme", admin_domain=""))
    assert (kept.name, kept.admin_domain, kept.rate) == ("Acme Ltd", None, 7)


async def test_only_the_platform_corrects_an_account(tmp_path: Path) -> None:
    async with open_core(Config(data_dir=tmp_path / "own")) as core:
        account = core.directory.partner("acme").account()
        await account.ask(CreatePartner("Acme", "a@acme.example"))
        assert await account.ask(CorrectAccount("ada", name="Mine")) == refuse("role_forbidden")


async def test_an_operator_invites_another_admin_and_addresses_outside_the_domain_are_refused(
    operator: Operator,
) -> None:
    made = await operator.done(PARTNER_INVITE, NewInvite("acme", "boss@acme.example"))
    assert (made.partner_id, made.email, made.role) == ("acme", "boss@acme.example", "admin")
    assert made.invite_id.startswith("ivt_")
    await operator.done(PARTNER_SET, PartnerSettings("acme", admin_domain="acme.example"))
    outside = await operator.refused(PARTNER_INVITE, NewInvite("acme", "boss@evil.example"))
    assert outside.reason == "address_outside_domain"
    viewer = await operator.done(PARTNER_INVITE, NewInvite("acme", "v@acme.example", "viewer"))
    assert viewer.role == "viewer"


async def test_live_access_is_granted_only_on_request_and_can_be_withdrawn(
    operator: Operator,
) -> None:
    withdrawn = await operator.done(
        GAME_LICENCE, LicenceStep("acme", "reversi", "withdraw", "not yet")
    )
    held = {licence.game_id: licence for licence in withdrawn.licences}["reversi"]
    assert (held.test, held.live, held.note) == (True, "withdrawn", "not yet")
    assert "reversi" in withdrawn.games["test"]
    assert "reversi" not in withdrawn.games["live"]
    early = await operator.refused(GAME_LICENCE, LicenceStep("acme", "reversi", "grant"))
    assert "not been requested" in early.error
    assert early.error.endswith(
        "The partner asks with `POST /partner/admin/games/reversi/live-request`."
    )
    twice = await operator.refused(GAME_LICENCE, LicenceStep("acme", "tic-tac-toe", "grant"))
    assert twice.error == "Live access has been granted already. It can be withdrawn."
    unknown = await operator.refused(GAME_LICENCE, LicenceStep("nobody", "reversi", "grant"))
    assert unknown.error == "There is no partner nobody; `pgs partner list` shows all partners."
    assert (
        await operator.refused(GAME_LICENCE, LicenceStep("acme", "poker", "deny"))
    ).reason == "unknown_game"


@pytest.mark.parametrize(
    "command",
    [PARTNER_SHOW, PARTNER_DEACTIVATE, PARTNER_REACTIVATE],
    ids=lambda command: command.name,
)
async def test_a_command_about_an_unknown_partner_is_refused(
    operator: Operator, command: OperatorCommand[PartnerId, r.PartnerRecord]
) -> None:
    assert "no partner nobody" in (await operator.refused(command, PartnerId("nobody"))).error
    assert (
        "no partner nobody"
        in (await operator.refused(PARTNER_SET, PartnerSettings("nobody", 1))).error
    )


async def test_a_partner_can_agree_again_after_its_agreement_was_ended(operator: Operator) -> None:
    ended = await operator.done(TERMS_END, PartnerId("acme"))
    assert (ended.agreed_terms_version, ended.agreed_terms_at) == (None, None)
    assert "no terms are agreed" in (await operator.refused(TERMS_END, PartnerId("acme"))).error
    assert "no partner" in (await operator.refused(TERMS_END, PartnerId("nobody"))).error


async def test_after_a_reset_the_member_enrols_a_new_authenticator(
    tmp_path: Path,
) -> None:
    partner = await prepare(tmp_path)
    async with serving(tmp_path) as core:
        account = core.directory.partner("acme").account()
        await account.ask(AcceptInvite("auth0|ada", "admin@acme.example", partner.invite_id))
        enrolled = await account.ask(EnrollTotp("auth0|ada"))
        assert isinstance(enrolled, Enrolment)
        await account.ask(VerifyTotp("auth0|ada", code_at(enrolled.secret, core.parts.clock.now())))
        assert (await account.ask(VerifyTotp("auth0|ada", "x"))) == refuse("invalid_code")
        operator = Operator(tmp_path)
        (member,) = (await operator.done(PARTNER_SHOW, PartnerId("acme"))).members
        assert (member.uid, member.email, member.role) == (
            "auth0|ada",
            "admin@acme.example",
            "admin",
        )
        reset = await operator.done(PARTNER_RESET_AUTHENTICATOR, MemberOf("acme", member.uid))
        assert (reset.partner_id, reset.uid, reset.email, reset.role) == (
            "acme",
            "auth0|ada",
            "admin@acme.example",
            "admin",
        )
        assert (await account.ask(VerifyTotp("auth0|ada", "x"))) == refuse("totp_not_enrolled")
        assert isinstance(await account.ask(EnrollTotp("auth0|ada")), Enrolment)
    # The same without a running service.
    await Operator(tmp_path).done(PARTNER_RESET_AUTHENTICATOR, MemberOf("acme", "auth0|ada"))
    assert (
        await Operator(tmp_path).refused(PARTNER_RESET_AUTHENTICATOR, MemberOf("acme", "eve"))
    ).reason == "member_not_found"
    assert (
        "no partner"
        in (
            await Operator(tmp_path).refused(PARTNER_RESET_AUTHENTICATOR, MemberOf("nobody", "eve"))
        ).error
    )
