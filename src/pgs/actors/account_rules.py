"""Which rule decides which account command: each a pure function of the account, the command and the context. The actor commits it."""

from collections.abc import Callable, Mapping
from typing import Any

from pgs.actors import account_factors as factors
from pgs.actors import account_keys as keys
from pgs.actors import account_people as people
from pgs.actors import account_settings as settings
from pgs.actors import account_standing as standing
from pgs.actors import account_webhooks as webhooks
from pgs.actors import messages as m
from pgs.actors.account_decisions import Context, Decision
from pgs.domain.accounts import Account

RULES: Mapping[type, Callable[[Account, Any, Context], Decision]] = {
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
