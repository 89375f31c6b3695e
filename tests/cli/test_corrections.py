"""A mistyped value is refused or can be corrected; a command that ends play asks first."""

import re
from pathlib import Path

import pytest

from pgs.cli import options
from tests.cli.support import NEW, json_of, pgs

TIER = ("tier", "set", "gold", "--environment", "test")


@pytest.mark.parametrize(
    "amount", ["10.00", "+100", "-100", "$10", "1e3", "1_000", "", "\uff11\uff10"]
)
@pytest.mark.parametrize("option", ["--floor", "--prize"])
def test_an_amount_that_is_not_whole_cents_is_refused_with_what_to_type(
    tmp_path: Path, amount: str, option: str
) -> None:
    numbers = {"--floor": "1000", "--prize": "1800"} | {option: amount}
    given = [f"{name}={value}" for name, value in numbers.items()]
    refused = pgs(*TIER, *given, "--data", tmp_path / "data")
    assert refused.exit_code == 2
    said = " ".join(refused.stderr.replace("│", " ").split())
    assert "whole US cents: for 10 dollars write 1000" in said
    assert not (tmp_path / "data").exists()


def test_setting_a_tier_says_when_its_prize_is_too_high_for_it_to_take_seats(
    tmp_path: Path,
) -> None:
    at = ("--data", tmp_path / "data")
    said = " ".join(pgs(*TIER, "--floor", "100", "--prize", "250", *at).stdout.split())
    assert "takes no seats: its prize of 250 cents is more than" in said
    assert "a prize of at most 200, or a floor of at least 125" in said
    assert "takes no seats" not in pgs(*TIER, "--floor", "125", "--prize", "250", *at).stdout


def test_a_new_invite_is_printed_with_its_page_in_the_portal_if_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ("--data", tmp_path / "data")
    invite = ("partner", "invite", "acme", "--email", "boss@acme.example")
    assert "inviteUrl" not in json_of(pgs(*NEW, "--json", *at))
    assert "/portal/" not in pgs(*invite, *at).stdout
    monkeypatch.setenv("PGS_IDENTITY_ISSUER", "https://id.example")
    monkeypatch.setenv("PGS_IDENTITY_CLIENT_ID", "portal")
    assert "/portal/" not in pgs(*invite, *at).stdout  # its address is not known
    monkeypatch.setenv("PGS_BASE_URL", "https://a-long-name.of-the.games.example")
    join = "https://a-long-name.of-the.games.example/portal/join/"
    made = json_of(pgs(*invite, "--json", *at))
    assert made["inviteUrl"] == join + made["inviteId"]
    said = pgs(*invite, *at).stdout
    assert re.search(rf"{join}ivt_\w+\n", said)
    assert "Pass the link on" in " ".join(said.split())
    other = ("partner", "create", "bravo", "--name", "Bravo", "--admin-email", "a@bravo.example")
    assert re.search(rf"{join}ivt_\w+\n", pgs(*other, *at).stdout)


def test_an_account_is_corrected_and_another_admin_is_invited(tmp_path: Path) -> None:
    at = ("--data", tmp_path / "data")
    json_of(pgs(*NEW, "--json", *at))
    mended = pgs(
        "partner", "set", "acme", "--name", "Acme Ltd", "--admin-domain", "acme.example", *at
    )
    assert "Acme Ltd" in mended.stdout
    invited = pgs("partner", "invite", "acme", "--email", "boss@acme.example", *at)
    assert "ivt_" in invited.stdout
    assert "as admin of acme" in invited.stdout
    made = json_of(
        pgs("partner", "invite", "acme", "--email=v@acme.example", "--role=viewer", "--json", *at)
    )
    assert made["role"] == "viewer"
    refused = pgs("partner", "invite", "acme", "--email", "x@evil.example", *at)
    assert refused.exit_code == 1
    assert "pgs partner set ID --admin-domain D" in refused.stderr
    nothing = pgs("partner", "set", "acme", *at)
    assert nothing.exit_code == 2
    assert "--admin-domain" in nothing.stderr


ENDING = [
    (("partner", "deactivate", "acme"), "ends every waiting seat and running match of acme"),
    (("partner", "reset-authenticator", "acme", "ada"), "removes the authenticator of ada"),
    (("match", "void", "mat_0"), "without a winner and refunds both stakes"),
    (("terms", "end", "acme"), "takes no new seats until it agrees"),
    (("game", "licence", "acme", "chess", "withdraw"), "takes no new live seats at chess"),
    (
        ("tier", "lock", "gold", "--environment", "live", "--game", "chess"),
        "gold takes no new live seats at chess",
    ),
]


@pytest.mark.parametrize(("command", "question"), ENDING, ids=lambda one: " ".join(one[:2]))
def test_a_command_that_ends_play_or_shuts_people_out_asks_a_person_first(
    command: tuple[str, ...], question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    monkeypatch.setattr(options, "is_interactive", lambda: True)

    def decline(text: str, *, err: bool) -> bool:
        asked.append(text)
        return False

    monkeypatch.setattr("typer.confirm", decline)
    at = ("--data", tmp_path / "nowhere")
    declined = pgs(*command, *at)
    assert declined.exit_code == 1
    assert "nothing was done" in declined.stderr
    assert question in asked[0]
    for unasked in ("--yes", "--json"):
        done = pgs(*command, unasked, *at)
        assert "nothing was done" not in done.stderr  # it went on to look for the folder
    assert len(asked) == 1


def test_a_command_goes_on_after_a_yes_and_programs_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ("--data", tmp_path / "data")
    json_of(pgs(*NEW, "--json", *at))
    assert "switched off" in pgs("partner", "deactivate", "acme", *at).stdout
    json_of(pgs("partner", "reactivate", "acme", "--json", *at))
    monkeypatch.setattr(options, "is_interactive", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, err: True)
    assert "switched off" in pgs("partner", "deactivate", "acme", *at).stdout
