"""Operators' commands in an installation of several nodes: any node takes them."""

from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
import trio

from pgs.domain.days import day_of, format_month, month_of
from pgs.domain.shards import shard_of_platform
from pgs.operator.command import Args, NoArgs
from pgs.operator.commands import game, invoice, match, partner, settlement, terms, tier
from pgs.operator.messages import Failed, Refused
from pgs.operator.records import Record
from tests.journeys.client import ok
from tests.journeys.installation import (
    PARTNERS,
    Nodes,
    OneNode,
    Seeded,
    node_in_process,
    owner_of,
    settled,
)
from tests.journeys.machines import Machine
from tests.journeys.nodes import header
from tests.journeys.partners import BOTH, BRONZE, seat_body
from tests.journeys.service import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Record)


async def matched(node: OneNode, key: str) -> str:
    """Return the id of a new match of a partner."""
    path = "/partner/matches"
    ok(await node.public.call("POST", path, key, seat_body("ann", "ann")))
    seat = ok(await node.public.call("POST", path, key, seat_body("bob", "bob")))
    match_id: str = seat["matchId"]
    return match_id


async def decided(node: OneNode, key: str) -> str:
    """Return the id of a match of a partner that ann has won."""
    match_id = await matched(node, key)
    done = {"outcome": "ended", "winnerPlayerId": "ann"}
    ok(await node.public.call("POST", f"/partner/test/matches/{match_id}/decide", key, done))
    return match_id


async def test_any_machine_takes_the_commands_about_partners_of_every_node(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2") as two,
        node_in_process(seeded, tmp_path, "n3") as three,
    ):
        nodes = (one, two, three)
        await settled(*nodes)
        here = Machine(tmp_path, "n1")
        made = {f"new-{number}" for number in range(12)}
        for name in sorted(made):
            args = partner.NewPartner(name, f"The {name} company", f"admin@{name}.example")
            assert (await here.do(partner.PARTNER_CREATE, args)).partner_id == name
            # The next machine knows of it at once.
            there = Machine(tmp_path, "n2")
            listed = await there.do(partner.PARTNER_LIST, partner.PartnersAfter())
            assert name in {found.partner_id for found in listed.partners}
        assert {owner_of(name, nodes).name for name in made} == {"n1", "n2", "n3"}
        for name in PARTNERS:
            about = partner.PartnerId(name)
            assert not (await here.do(partner.PARTNER_DEACTIVATE, about)).active
            assert (await here.do(partner.PARTNER_REACTIVATE, about)).active
            renamed = partner.PartnerSettings(name, name="Renamed")
            assert (await here.do(partner.PARTNER_SET, renamed)).name == "Renamed"
            invited = partner.NewInvite(name, f"second@{name}.example")
            assert (await here.do(partner.PARTNER_INVITE, invited)).partner_id == name
            step = game.LicenceStep(name, BOTH, "withdraw")
            assert (await here.do(game.GAME_LICENCE, step)).partner_id == name
            assert (await here.do(terms.TERMS_END, about)).partner_id == name
        unknown = await here.ask(partner.PARTNER_DEACTIVATE, partner.PartnerId("nobody"))
        assert isinstance(unknown, Refused)
        assert "no partner nobody" in unknown.error


async def test_any_machine_changes_tiers_and_terms(tmp_path: Path, seeded: Seeded) -> None:
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2") as two,
    ):
        await settled(one, two)
        assert sum(shard_of_platform() in node.shards.owned for node in (one, two)) == 1
        for floor, name in ((300, "n1"), (400, "n2")):
            machine = Machine(tmp_path, name)
            numbers = tier.TierNumbers("test", BRONZE, floor, 500)
            assert (await machine.do(tier.TIER_SET, numbers)).floor_usd_cents == floor
            about = tier.TierOfGame("test", BRONZE, BOTH)
            assert (await machine.do(tier.TIER_LOCK, about)).changed
            assert (await machine.do(tier.TIER_UNLOCK, about)).changed
            published = await machine.do(terms.TERMS_PUBLISH, terms.NewTerms("§" * 100_000))
            assert published.version > 1
            for other in ("n1", "n2"):
                tiers = (await Machine(tmp_path, other).do(tier.TIER_LIST, NoArgs())).tiers
                (found,) = [
                    one for one in tiers if (one.environment, one.tier_id) == ("test", BRONZE)
                ]
                assert found.floor_usd_cents == floor


async def test_any_machine_voids_matches_and_assembles_and_pays_invoices_of_every_node(
    tmp_path: Path, seeded: Seeded
) -> None:
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2") as two,
    ):
        nodes = (one, two)
        await settled(*nodes)
        here = Machine(tmp_path, "n1")
        played = {}
        for node in nodes:
            mine = [name for name in PARTNERS if node.owns(name)]
            for name in mine[:2]:
                played[name] = await decided(one, seeded.partners[name].test)
            key = seeded.partners[mine[2]].test
            voided = await here.do(match.MATCH_VOID, match.MatchId(await matched(one, key)))
            assert len(voided.refunds) == 2
        month = format_month(month_of(day_of(one.service.core.parts.clock.now())))

        async def assembled() -> bool:
            page = await here.do(invoice.INVOICE_ASSEMBLE, invoice.Month(month))
            assert (page.missed, page.next_after) == ((), None)
            return {found.partner_id for found in page.invoices} == played.keys()

        await until(assembled)  # the money of a match is recorded after its end
        listed = await here.do(invoice.INVOICE_LIST, invoice.InvoicesAfter())
        for found in listed.invoices:  # drafts, so the owner refuses both
            about = invoice.InvoiceId(found.invoice_id)
            for command in (invoice.INVOICE_PAY, invoice.INVOICE_VOID):
                refused = await here.ask(command, about)
                assert isinstance(refused, Refused), refused
                assert refused.reason == "invoice_not_readable"
        asked = await here.do(settlement.SETTLEMENT_RETRY, settlement.Item())
        assert (asked.asked, asked.unreached) == (0, {})


def unanswered(folder: Path) -> dict[str, Any]:
    """Return the settings of a settlement server that nobody runs."""
    token = folder / "token"
    token.write_text("t" * 32)
    return {"settlement_url": "http://127.0.0.1:1", "settlement_token_file": token}


async def test_any_machine_lists_how_often_settlement_was_asked_by_every_node(
    tmp_path: Path, seeded: Seeded
) -> None:
    server = unanswered(tmp_path)
    async with (
        node_in_process(seeded, tmp_path, "n1", **server) as one,
        node_in_process(seeded, tmp_path, "n2", **server) as two,
    ):
        await settled(one, two)
        names = [next(name for name in PARTNERS if node.owns(name)) for node in (one, two)]
        for name in names:
            body = seat_body("ann", "ann")
            refused = await one.call("/partner/matches", seeded.partners[name].test, body)
            assert refused.status == 503
        for machine in (Machine(tmp_path, "n1"), Machine(tmp_path, "n2")):
            page = await machine.do(settlement.SETTLEMENT_LIST, settlement.ItemsAfter())
            assert page.unreached == {}
            assert {item.partner_id for item in page.items} == set(names)
            assert all(item.tries and item.last_answer for item in page.items), page.items


async def test_what_is_open_is_listed_without_a_node_that_cannot_be_reached(
    tmp_path: Path, seeded: Seeded
) -> None:
    server = unanswered(tmp_path)
    async with (
        node_in_process(seeded, tmp_path, "n1", **server) as one,
        node_in_process(seeded, tmp_path, "n2", node_address="127.0.0.1:1", **server) as two,
    ):
        await settled(one, two)
        name = next(name for name in PARTNERS if two.owns(name))
        body = seat_body("ann", "ann")
        path = "/partner/matches"
        await two.public.call("POST", path, seeded.partners[name].test, body)
        listed = await Machine(tmp_path, "n1").run("settlement", "list")
        assert listed.returncode == 1
        assert "Open: 1" in listed.stdout
        assert "how often settlement was asked for theirs (n2)" in listed.stderr
        assert "Node n2 (127.0.0.1:1) owns" in listed.stderr
        as_json = await Machine(tmp_path, "n1").run("settlement", "list", "--json")
        (item,) = msgspec.json.decode(as_json.stdout)
        assert (item["partnerId"], item["tries"]) == (name, None)


async def test_a_command_waits_until_the_others_have_taken_over_from_a_killed_owner(
    tmp_path: Path, seeded: Seeded
) -> None:
    with Nodes(seeded, tmp_path, ("n1", "n2")) as nodes:
        here = Machine(tmp_path, "n1")

        async def owned_by_two() -> list[str]:
            found = []
            for name in PARTNERS:
                answer = await nodes.call("n1", "/partner/me", seeded.partners[name].test)
                if header(answer, "x-pgs-owner") == "n2":
                    found.append(name)
            return found

        async def is_shared_out() -> bool:
            return 0 < len(await owned_by_two()) < len(PARTNERS)

        await until(is_shared_out)
        (first, *_) = await owned_by_two()
        nodes["n2"].end()
        begun = trio.current_time()
        assert not (await here.do(partner.PARTNER_DEACTIVATE, partner.PartnerId(first))).active
        took_s = trio.current_time() - begun
        assert took_s < 6, took_s


async def test_a_command_whose_owner_cannot_be_reached_says_which_node_it_is(
    tmp_path: Path, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs.operator.forwarding.OWNER_S", 0.5)
    async with (
        node_in_process(seeded, tmp_path, "n1") as one,
        node_in_process(seeded, tmp_path, "n2", node_address="127.0.0.1:1") as two,
    ):
        await settled(one, two)
        here = Machine(tmp_path, "n1")
        name = next(name for name in PARTNERS if two.owns(name))
        failed = await here.ask(partner.PARTNER_DEACTIVATE, partner.PartnerId(name))
        assert isinstance(failed, Failed)
        assert "Node n2 (127.0.0.1:1) owns" in failed.error
        assert "Nothing was done" in failed.error
        asked = await here.do(settlement.SETTLEMENT_RETRY, settlement.Item())
        assert list(asked.unreached) == ["n2"]
        retried = await here.run("settlement", "retry")
        assert (retried.returncode, retried.stdout) == (1, "Asked for: 0.\n")
        assert "these nodes did not ask again (n2)" in retried.stderr
        await decided(two, seeded.partners[name].test)
        month = format_month(month_of(day_of(one.service.core.parts.clock.now())))
        assembled = await here.run("invoice", "assemble", "--month", month)
        assert assembled.returncode == 1
        assert f"1 invoice was not assembled, of {name}." in assembled.stderr
        assert "Node n2 (127.0.0.1:1) owns" in assembled.stderr
        record: Any = one.service.core.parts.registry.account(name)
        assert record.active


async def test_a_command_beside_a_stopped_node_names_the_nodes_that_run(
    tmp_path: Path, seeded: Seeded
) -> None:
    settings = {
        "PGS_DATABASE_URL": seeded.url,
        "PGS_SECRET_KEY_FILE": str(seeded.key_file),
        "PGS_NODE_NAME": "n1",
        "PGS_NODE_ADDRESS": "127.0.0.1:1",
    }
    machine = Machine(tmp_path, "n1")
    listed = ("partner", "deactivate", PARTNERS[0], "--yes")
    async with node_in_process(seeded, tmp_path, "n1"):
        pass
    async with node_in_process(seeded, tmp_path, "n2") as two:
        await settled(two)
        refused = await machine.run(*listed, **settings)
        assert refused.returncode == 1
        assert "node n1 does not run here. Nothing was done" in refused.stderr
        assert "(n2)" in refused.stderr
    alone = await machine.run(*listed, **settings)  # no node runs: the command does it itself
    assert alone.returncode == 0, alone.stderr
