"""Which rule decides which account command: each a pure function of the account, the command and the context. The actor commits it."""

from collections.abc import Callable, Mapping
from typing import Any

from pgs.actors.account import factors, keys, people, settings, standing, webhooks
from pgs.actors.account.decisions import AccountDecision, Context
from pgs.actors.messages import account as m
from pgs.domain.accounts import Account

RULES: Mapping[type, Callable[[Account, Any, Context], AccountDecision]] = {
    m.MintKey: keys.mint_key,
    m.RotateKey: keys.rotate_key,
    m.RevokeKey: keys.revoke_key,
    m.ChangeLicence: settings.change_licence,
    m.AgreeTerms: settings.agree_terms,
    m.EndTerms: settings.end_terms,
    m.SetPrices: settings.set_prices,
    m.AddOrigin: settings.add_origin,
    m.RemoveOrigin: settings.remove_origin,
    m.SetPin: settings.set_pin,
    m.SaveWebhook: webhooks.save_webhook,
    m.RotateWebhookSecret: webhooks.rotate_webhook_secret,
    m.DisableWebhook: webhooks.disable_webhook,
    m.SwitchAccount: standing.switch_account,
    m.SetDomain: standing.set_domain,
    m.SetRate: standing.set_rate,
    m.EmergencyStop: standing.emergency_stop,
    m.CreateInvite: people.create_invite,
    m.RevokeInvite: people.revoke_invite,
    m.AcceptInvite: people.accept_invite,
    m.ChangeRole: people.change_role,
    m.RemoveMember: people.remove_member,
    m.EnrollTotp: factors.enrol_totp,
    m.ResetFactor: factors.reset_factor,
}
