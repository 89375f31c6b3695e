"""`game.…`: partners' licences for games."""

from typing import Annotated, Literal

from msgspec import Meta

from pgs.actors.core import Core
from pgs.actors.messages.account.settings import ChangeLicence
from pgs.domain.errors import BadRequest, Refusal
from pgs.domain.members import PLATFORM
from pgs.operator.accounts import change_account, find_account
from pgs.operator.command import Args, Id, OperatorCommand
from pgs.operator.forwarding import of_partner
from pgs.operator.records import PartnerRecord

NOTE_MAX = 500
"""Characters of a licence's note: a paragraph that admins read in a list."""


class LicenceStep(Args, frozen=True):
    """The platform's decision about a partner's live access to a game."""

    partner_id: Id
    game_id: Id
    step: Literal["grant", "deny", "withdraw"]
    note: Annotated[str, Meta(max_length=NOTE_MAX)] | None = None


async def step_licence(core: Core, args: LicenceStep) -> PartnerRecord | Refusal | BadRequest:
    """Grant or deny a request for live access, or withdraw what was granted."""
    known = await find_account(core, args.partner_id)
    if isinstance(known, BadRequest):
        return known
    answer = await change_account(
        core, args.partner_id, ChangeLicence(PLATFORM, args.game_id, args.step, args.note)
    )
    licence = known.licences.get(args.game_id)
    if (
        isinstance(answer, BadRequest)
        and args.step != "withdraw"
        and (licence is None or licence.live != "granted")
    ):
        return BadRequest(
            f"{answer.message} The partner asks with "
            f"`POST /partner/admin/games/{args.game_id}/live-request`."
        )
    return answer


GAME_LICENCE = OperatorCommand(
    "game.licence", LicenceStep, PartnerRecord, step_licence, about=of_partner
)

COMMANDS = (GAME_LICENCE,)
