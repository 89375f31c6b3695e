"""Resending a nudge from the portal's list of attempts."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import axe_faults_in_both_schemes
from tests.browser.members import by_admin
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser


def test_a_nudge_is_resent_and_shown_in_the_log_at_its_match_and_in_the_event_log(
    demo: dict[str, str], admin: Visitor
) -> None:
    page = admin.page
    attempt = by_admin(demo, "GET", "webhooks/test/attempts")["attempts"][0]
    admin.go(f"test/webhooks?open={attempt['attemptId']}", "Webhooks")
    admin.press("Resend")
    admin.told(f"The resent nudge was answered with {attempt['statusCode']}.")
    newest = by_admin(demo, "GET", "webhooks/test/attempts")["attempts"][0]
    assert (newest["resend"], newest["matchId"]) == (True, attempt["matchId"])
    page.wait_for_url(f"**/portal/test/webhooks?open={newest['attemptId']}")
    expect(page.locator("[data-detail]")).to_contain_text(newest["nudgeId"])
    expect(page.locator("tr[data-row]").first).to_contain_text("resend")
    assert axe_faults_in_both_schemes(page) == []
    admin.open(f"/portal/test/matches/{attempt['matchId']}")
    page.get_by_text("A resent nudge was delivered to your server").wait_for()
    admin.go("events", "Event log")
    page.get_by_text(f"resent a nudge about {attempt['matchId']}").first.wait_for()


def test_a_nudge_is_not_resent_while_the_endpoint_is_off(
    demo: dict[str, str], admin: Visitor
) -> None:
    attempt = by_admin(demo, "GET", "webhooks/test/attempts")["attempts"][0]
    assert by_admin(demo, "POST", "webhooks/test/disable")["_status"] == 200
    admin.go(f"test/webhooks?open={attempt['attemptId']}", "Webhooks")
    admin.page.get_by_role("region", name="Request").wait_for()
    expect(admin.page.get_by_role("button", name="Resend")).to_have_count(0)
