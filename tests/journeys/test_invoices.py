"""Invoices over real sockets: assembled from final days, listed, traced to matches, voided."""

from typing import Any

from pgs.actors.maintenance.billing import assemble_invoices
from pgs.operator.command import OperatorCommand
from pgs.operator.commands.invoice import (
    INVOICE_ASSEMBLE,
    INVOICE_LIST,
    INVOICE_PAY,
    INVOICE_SHOW,
    INVOICE_VOID,
    InvoiceId,
    InvoicesAfter,
    LinesAfter,
    Month,
)
from tests.journeys.admin_client import open_admin
from tests.journeys.billed import Billed, open_billed
from tests.journeys.client import check_plain, check_refusal, ok
from tests.journeys.partners import SILVER, SILVER_CENTS
from tests.journeys.places import Place


async def operate(billed: Billed, command: OperatorCommand[Any, Any], args: Any) -> Any:
    """Return the result of an operator command."""
    return await command.run(billed.service.core, args)


async def play_february(billed: Billed) -> list[str]:
    """Play two matches with rake on the 28th and one on the 29th; return their ids."""
    matches = [await billed.match("won"), await billed.match("won")]
    await billed.match("no_contest")
    billed.clock.set(2028, 2, 29)
    matches.append(await billed.match("won", tier_id=SILVER, stake_usd_cents=SILVER_CENTS))
    return matches


async def test_a_month_becomes_one_invoice_whose_lines_lead_to_its_matches(place: Place) -> None:
    async with open_billed(place) as billed:
        matches = await play_february(billed)
        billed.clock.set(2028, 3, 1)
        await operate(billed, INVOICE_ASSEMBLE, Month("202802"))
        (invoice,) = (await billed.read_ok("/partner/invoices"))["invoices"]
        path = f"/partner/invoices/{invoice['invoiceId']}"
        assert await billed.read_ok(path) == invoice
        lines = (await billed.read_ok(f"{path}/lines"))["lines"]
        behind = [
            (await billed.read_ok(f"{path}/lines/{line['lineId']}/matches"))["matches"]
            for line in lines
        ]
    made = {name: invoice.pop(name) for name in ("invoiceId", "createdAt", "finalizedAt", "dueAt")}
    assert invoice == {
        "environment": "test",
        "status": "open",
        "number": 1,
        "periodFrom": "20280201",
        "periodTo": "20280229",
        "totalUsdCents": 140,
        "lineCount": 2,
    }
    assert made["dueAt"] == made["finalizedAt"] + 30 * 86_400
    assert [line.pop("lineId")[:4] for line in lines] == ["lin_", "lin_"]
    assert lines == [
        {
            "day": "20280228",
            "gameId": "tic-tac-toe",
            "tierId": "bronze",
            "description": "Rake of 2 matches of tic-tac-toe, tier bronze, decided on 2028-02-28",
            "matches": 2,
            "amountUsdCents": 40,
        },
        {
            "day": "20280229",
            "gameId": "tic-tac-toe",
            "tierId": "silver",
            "description": "Rake of 1 match of tic-tac-toe, tier silver, decided on 2028-02-29",
            "matches": 1,
            "amountUsdCents": 100,
        },
    ]
    assert {match["matchId"] for page in behind for match in page} == set(matches)
    assert [sum(match["rakeUsdCents"] for match in page) for page in behind] == [40, 100]


async def test_the_service_bills_past_months_by_itself_and_each_once(place: Place) -> None:
    async with open_billed(place) as billed:
        await play_february(billed)
        billed.clock.set(2028, 3, 5)
        await billed.match("won")
        billed.clock.set(2028, 4, 2)
        core = billed.service.core
        for _ in range(2):
            await assemble_invoices(core.parts, core.directory)
        invoices = (await billed.read_ok("/partner/invoices"))["invoices"]
    assert [
        (invoice["number"], invoice["periodFrom"], invoice["totalUsdCents"]) for invoice in invoices
    ] == [(2, "20280301", 20), (1, "20280201", 140)]


async def test_a_month_without_matches_has_no_invoice(place: Place) -> None:
    async with open_billed(place) as billed:
        await billed.match("no_contest")
        billed.clock.set(2028, 3, 2)
        page = await operate(billed, INVOICE_ASSEMBLE, Month("202802"))
        assert page.invoices == []
        assert (await billed.read_ok("/partner/invoices"))["invoices"] == []


async def test_an_unfinished_month_is_a_draft_that_nobody_can_read(place: Place) -> None:
    async with open_billed(place) as billed:
        await billed.match("won")
        await operate(billed, INVOICE_ASSEMBLE, Month("202802"))
        await operate(billed, INVOICE_ASSEMBLE, Month("202802"))
        (draft,) = (await billed.read_ok("/partner/invoices?status=draft"))["invoices"]
        assert draft.keys() == {
            "invoiceId",
            "environment",
            "status",
            "periodFrom",
            "periodTo",
            "createdAt",
        }
        path = f"/partner/invoices/{draft['invoiceId']}"
        for of in ("", "/lines", "/lines/lin_x/matches"):
            check_refusal(await billed.read(path + of), 409, "invoice_not_readable")
        billed.clock.set(2028, 3, 1)
        await operate(billed, INVOICE_ASSEMBLE, Month("202802"))
        opened = await billed.read_ok(path)
    assert (opened["status"], opened["number"]) == ("open", 1)


async def test_what_a_void_invoice_billed_is_a_line_of_the_next_one(place: Place) -> None:
    async with open_billed(place) as billed:
        await play_february(billed)
        billed.clock.set(2028, 3, 1)
        (first,) = (await operate(billed, INVOICE_ASSEMBLE, Month("202802"))).invoices
        before = await billed.read_ok(f"/partner/invoices/{first.invoice_id}/lines")
        void = await operate(billed, INVOICE_VOID, InvoiceId(first.invoice_id))
        assert (void.status, void.voided_at) == ("void", billed.clock.at)
        (again,) = (await operate(billed, INVOICE_ASSEMBLE, Month("202802"))).invoices
        assert again.status == "void"  # a month has one invoice
        await billed.match("won")
        billed.clock.set(2028, 4, 1)
        (second,) = (await operate(billed, INVOICE_ASSEMBLE, Month("202803"))).invoices
        lines = await billed.read_ok(f"/partner/invoices/{second.invoice_id}/lines")
        assert await billed.read_ok(f"/partner/invoices/{first.invoice_id}/lines") == before
    assert [(line["day"], line["amountUsdCents"]) for line in lines["lines"]] == [
        ("20280228", 40),
        ("20280229", 100),
        ("20280301", 20),
    ]
    assert (second.number, second.total_usd_cents) == (2, 160)


async def test_an_invoice_is_paid_once_and_a_paid_one_cannot_be_voided(place: Place) -> None:
    async with open_billed(place) as billed:
        await billed.match("won")
        (draft,) = (await operate(billed, INVOICE_ASSEMBLE, Month("202802"))).invoices
        refused = await operate(billed, INVOICE_PAY, InvoiceId(draft.invoice_id))
        assert refused.reason == "invoice_not_readable"
        billed.clock.set(2028, 3, 1)
        await operate(billed, INVOICE_ASSEMBLE, Month("202802"))
        paid = await operate(billed, INVOICE_PAY, InvoiceId(draft.invoice_id))
        assert (paid.status, paid.paid_at) == ("paid", billed.clock.at)
        for command in (INVOICE_PAY, INVOICE_VOID):
            refused = await operate(billed, command, InvoiceId(draft.invoice_id))
            assert "is paid" in refused.message
        unknown = await operate(billed, INVOICE_PAY, InvoiceId("inv_unknown"))
        assert unknown.reason == "invoice_not_found"
        listed = await operate(billed, INVOICE_LIST, InvoicesAfter(status="paid"))
        shown = await operate(billed, INVOICE_SHOW, LinesAfter(draft.invoice_id))
    assert listed.invoices == [paid]
    assert (shown.invoice, [line.amount_usd_cents for line in shown.lines]) == (paid, [20])


async def test_the_list_is_paged_and_filtered(place: Place) -> None:
    async with open_billed(place) as billed:
        for month in (1, 2, 3):
            billed.clock.set(2029, month, 10)
            await billed.match("won")
        billed.clock.set(2029, 4, 2)
        await operate(billed, INVOICE_ASSEMBLE, Month("202903"))
        months, path = [], "/partner/invoices?limit=1"
        while True:
            page = await billed.read_ok(path)
            months += [invoice["periodFrom"] for invoice in page["invoices"]]
            if page["nextCursor"] is None:
                break
            path = f"/partner/invoices?limit=1&cursor={page['nextCursor']}"
        assert months == ["20290301", "20290201", "20290101"]
        window = await billed.read_ok("/partner/invoices?from=20290131&to=20290201")
        assert [each["periodFrom"] for each in window["invoices"]] == ["20290201", "20290101"]
        for query, reason, extras in (
            ("from=20290101", "missing_parameter", {"parameter": "to"}),
            ("to=20290101", "missing_parameter", {"parameter": "from"}),
            ("from=x&to=20290101", "malformed_day", {"parameter": "from"}),
            ("from=20290201&to=20290101&cursor=x", "range_backwards", {}),
            ("from=20290101&to=20290601&status=x", "range_too_wide", {"maxRangeDays": 92}),
            ("status=late", "invoice_status_invalid", {}),
            ("status=", "invoice_status_invalid", {}),
            ("cursor=", "invalid_cursor", {}),
            ("cursor=pgc1.x.y.z", "invalid_cursor", {}),
        ):
            refused = await billed.read(f"/partner/invoices?{query}")
            check_refusal(refused, 400, reason, **extras)
        # A bad limit comes first in every list, whatever else the call asks for.
        for path in ("", "/inv_none/lines", "/inv_none/lines/lin_none/matches"):
            check_plain(await billed.read(f"/partner/invoices{path}?limit=501"), "limit")


async def test_invoices_are_seen_by_their_partner_and_environment_alone(place: Place) -> None:
    async with open_billed(place) as billed:
        await billed.match("won")
        billed.clock.set(2028, 3, 1)
        (invoice,) = (await operate(billed, INVOICE_ASSEMBLE, Month("202802"))).invoices
        other = await billed.service.partner("other")
        for key in (billed.partner.live, other.test):
            assert ok(await billed.read("/partner/invoices", key))["invoices"] == []
            for of in ("", "/lines"):
                path = f"/partner/invoices/{invoice.invoice_id}{of}"
                check_refusal(await billed.read(path, key), 404, "invoice_not_found")


async def test_members_read_usage_and_invoices_of_the_environment_that_they_name(
    place: Place,
) -> None:
    async with open_admin(place) as admin:
        await admin.add_member("val", "viewer", "none")
        for path in ("invoices", "invoices/inv_x", "invoices/inv_x/lines"):
            check_refusal(
                await admin.call("GET", path, who="val"),
                400,
                "missing_parameter",
                parameter="environment",
            )
            check_plain(await admin.call("GET", f"{path}?environment=prod"), "environment")
        page = await admin.call_ok("GET", "invoices?environment=live", who="val")
        assert page == {"invoices": [], "nextCursor": None, "hasMore": False}
        for path in ("invoices/inv_x", "invoices/inv_x/lines", "invoices/inv_x/lines/l/matches"):
            check_refusal(
                await admin.call("GET", f"{path}?environment=test"), 404, "invoice_not_found"
            )
        usage = await admin.call_ok("GET", "usage/test?from=20250101&to=20250102", who="val")
        seats = await admin.call_ok("GET", "seat-summary/live?from=20250101&to=20250102", who="val")
        assert [day["day"] for day in usage["days"]] == ["20250101", "20250102"]
        assert (seats["environment"], seats["to"], seats["rows"]) == ("live", "20250102", [])


async def test_what_a_void_invoice_left_waits_for_a_month_with_matches(place: Place) -> None:
    async with open_billed(place) as billed:
        await billed.match("won")
        billed.clock.set(2028, 3, 1)
        (first,) = (await operate(billed, INVOICE_ASSEMBLE, Month("202802"))).invoices
        await operate(billed, INVOICE_VOID, InvoiceId(first.invoice_id))
        await billed.match("no_contest")
        billed.clock.set(2028, 5, 10)
        await billed.match("won")
        billed.clock.set(2028, 6, 2)
        core = billed.service.core
        await assemble_invoices(core.parts, core.directory)
        invoices = (await billed.read_ok("/partner/invoices"))["invoices"]
    assert [(each["periodFrom"], each["status"], each["totalUsdCents"]) for each in invoices] == [
        ("20280501", "open", 40),
        ("20280201", "void", 20),
    ]
