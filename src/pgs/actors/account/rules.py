"""The rule of each command. A rule is a pure function; the actor commits its decision."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from pgs.actors.account import (
    event_log,
    factors,
    keys,
    lifecycle,
    members,
    settings,
    themes,
    webhooks,
)
from pgs.actors.account.decisions import AccountDecision
from pgs.actors.messages.account.event_log import NoteResolution, NoteRewound
from pgs.actors.messages.account.factors import EnrollTotp, ResetFactor
from pgs.actors.messages.account.keys import MintKey, RevokeKey, RotateKey
from pgs.actors.messages.account.lifecycle import EmergencyStop, SwitchAccount
from pgs.actors.messages.account.members import (
    AcceptInvite,
    ChangeRole,
    CreateInvite,
    RemoveMember,
    RevokeInvite,
)
from pgs.actors.messages.account.settings import (
    AddOrigin,
    AgreeTerms,
    ChangeLicence,
    CorrectAccount,
    EndTerms,
    RemoveOrigin,
    SetDomain,
    SetPin,
    SetPrices,
    SetRate,
    SetTheme,
)
from pgs.actors.messages.account.webhooks import (
    DisableWebhook,
    NoteResend,
    RotateWebhookSecret,
    SaveWebhook,
)


class Rule(msgspec.Struct, frozen=True):
    """The functions that decide one command.

    `decide` takes the account, the command and the context. If the rule needs other rows, `read`
    returns them: it takes the reader, the account, the command and the time. `decide` then takes
    these rows as a fourth argument.
    """

    decide: Callable[..., AccountDecision]
    read: Callable[..., Awaitable[Any]] | None = None


RULES: Mapping[type, Rule] = {
    MintKey: Rule(keys.mint_key),
    RotateKey: Rule(keys.rotate_key),
    RevokeKey: Rule(keys.revoke_key),
    ChangeLicence: Rule(settings.change_licence),
    AgreeTerms: Rule(settings.agree_terms),
    EndTerms: Rule(settings.end_terms),
    SetPrices: Rule(settings.set_prices),
    AddOrigin: Rule(settings.add_origin),
    RemoveOrigin: Rule(settings.remove_origin),
    SetPin: Rule(settings.set_pin),
    SetDomain: Rule(settings.set_domain),
    SetRate: Rule(settings.set_rate),
    SetTheme: Rule(themes.set_theme, themes.read_theme),
    CorrectAccount: Rule(settings.correct_account),
    NoteResolution: Rule(event_log.note_resolution),
    SaveWebhook: Rule(webhooks.save_webhook, webhooks.read_webhook),
    RotateWebhookSecret: Rule(webhooks.rotate_webhook_secret, webhooks.read_webhook),
    DisableWebhook: Rule(webhooks.disable_webhook, webhooks.read_webhook),
    NoteResend: Rule(webhooks.note_resend, webhooks.read_attempt),
    SwitchAccount: Rule(lifecycle.switch_account),
    NoteRewound: Rule(event_log.note_rewound),
    EmergencyStop: Rule(lifecycle.emergency_stop),
    CreateInvite: Rule(members.create_invite, members.read_kept_invites),
    RevokeInvite: Rule(members.revoke_invite, members.read_invite),
    AcceptInvite: Rule(members.accept_invite, members.read_invite_and_membership),
    ChangeRole: Rule(members.change_role),
    RemoveMember: Rule(members.remove_member),
    EnrollTotp: Rule(factors.enrol_totp, factors.read_factor),
    ResetFactor: Rule(factors.reset_factor),
}
"""Every account command except `CreatePartner`, `VerifyTotp` and `StopFinished`, which have their
own handlers."""
