"""`pgs demo`: runs the service, a partner's endpoint and the story in one process."""

import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import msgspec
import trio
from rich.console import Console

from pgs.clock import SystemClock, SystemRng
from pgs.config import Config
from pgs.demo.admin import PEOPLE, make_admin
from pgs.demo.backend import CALL_FAILED, Backend
from pgs.demo.certificates import Authority
from pgs.demo.curl import paste_lines
from pgs.demo.delayed_settlement import PAYOUT_DELAY_S, DelayedSettlement
from pgs.demo.folder import (
    DEMO_FILE,
    LOG_FILE,
    DemoFile,
    FolderRefused,
    claim,
    open_log,
    write_demo_file,
)
from pgs.demo.inbox import Inbox, open_inbox
from pgs.demo.loopback import HOOKS_HOST, LoopbackResolver, loopback_outbound
from pgs.demo.partner import PARTNER_ID, add_webhook, make_partner
from pgs.demo.past import Past, PastClock, beginning, play_past
from pgs.demo.printing import Teller
from pgs.demo.site import origins_of
from pgs.demo.stay import stay
from pgs.demo.story import Unexpected, tell
from pgs.devissuer.issuer import DevelopmentIssuer, development_issuer
from pgs.http.transport.server import bind
from pgs.logs import Lines, logging_to
from pgs.operator.ready_partners import NotMade, ReadyPartner
from pgs.process import SWITCH_INTERVAL_S
from pgs.serve import RunningService, running
from pgs_client.trio_client import TrioClient

FOLDER = Path("demo-data")

PORT = 8000
"""Port of the demo's public listener: the service's own default."""

_HOST = "127.0.0.1"

_SITE_ABOVE = 3
"""Ports by which the partner's site is above the public listener. If the public listener has port
8000, the internal listener has 8001, and the site has 8003. Port 8002 is left free for a second
service."""

_GONE_WRONG = (Unexpected, NotMade, *CALL_FAILED)


class _Options(msgspec.Struct, frozen=True):
    folder: Path
    once: bool
    port: int
    bots: int


class _Stage(msgspec.Struct, frozen=True):
    """What the story needs. `clock` is the service's."""

    service: RunningService
    settlement: DelayedSettlement
    inbox: Inbox
    issuer: DevelopmentIssuer
    site: socket.socket
    clock: PastClock


class _Ready(msgspec.Struct, frozen=True):
    partner: ReadyPartner
    past: Past


def run(folder: Path = FOLDER, *, once: bool = False, port: int = PORT, bots: int = 0) -> int:
    """Run the demo in `folder` and return the exit code.

    The service listens on `port` and `port + 1`, the partner's site on `port + _SITE_ABOVE`. If one
    of the service's two ports is taken, the service uses two free ones. If the site's port is
    taken, the site uses a free one. If `port` is 0, all three are free ones.

    With `once` the demo ends after the story. Otherwise `bots` bots play until SIGINT or SIGTERM.
    The code is 1 when the folder is refused, when an answer is not as expected, or when a signal
    ends a run with `once` early.
    """
    try:
        claim(folder)
    except FolderRefused as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with open_log(folder) as log, logging_to(log, "info", SystemClock()) as lines:
        return trio.run(
            _main, _Options(folder, once, port, bots), Teller(Console(highlight=False)), lines
        )


async def _main(options: _Options, teller: Teller, lines: Lines) -> int:
    listen, internal = _addresses(options.port)
    settlement = DelayedSettlement()
    clock = SystemClock()
    past = PastClock(clock, beginning(clock.now()))
    authority = Authority(clock.now())
    outbound, resolver = loopback_outbound(authority), LoopbackResolver(HOOKS_HOST)
    code = 1 if options.once else 0
    with (
        closing(_bind_site(options.port)) as site,
        trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals,
    ):
        # The inbox ends after the service, so that the service's last nudges still arrive.
        async with (
            open_inbox(authority, clock) as inbox,
            development_issuer(PEOPLE, clock, SystemRng()) as issuer,
            running(
                _config(options.folder, listen, internal, issuer),
                settlement=settlement,
                outbound=outbound,
                resolver=resolver,
                clock=past,
                lines=lines,
            ) as service,
            trio.open_nursery() as nursery,
        ):
            # A signal cancels this nursery only. The service around it then stops in order.
            nursery.start_soon(_end_when_signalled, signals, nursery.cancel_scope)
            if listen.endswith(":0") and options.port:
                teller.say(
                    f"Port {options.port} or {options.port + 1} is taken; the demo uses free ones."
                )
            stage = _Stage(service, settlement, inbox, issuer, site, past)
            ready = await _tell_story(options, teller, stage)
            code = 0 if ready is not None else 1
            if ready is not None and not options.once:
                key, until = ready.partner.test_key, ready.past.until
                await stay(service, key, inbox, teller, site, options.bots, until)
            nursery.cancel_scope.cancel()
    teller.say("The demo has ended.")
    return code


async def _end_when_signalled(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()
        return


def _config(folder: Path, listen: str, internal: str, issuer: DevelopmentIssuer) -> Config:
    return Config(
        listen=listen,
        internal_listen=internal,
        data_dir=folder,
        identity_issuer=issuer.issuer,
        identity_client_id=issuer.client_id,
    )


async def _tell_story(options: _Options, teller: Teller, stage: _Stage) -> _Ready | None:
    """Create the partner, play its past and tell the story; return what was made.

    Return None if anything failed.
    """
    service = stage.service
    try:
        partner = await _make_partner(options, stage)
        async with TrioClient(service.base_url, partner.test_key) as client:
            past = await _play_past(stage, Backend(client))
            _introduce(options, teller, stage, past)
            backend = Backend(client)
            await tell(backend, teller, stage.settlement, stage.inbox, past.until)
    except _GONE_WRONG as error:
        teller.unexpected(str(error) or type(error).__name__)
        teller.say(f"The service's log is {options.folder / LOG_FILE}.")
        return None
    teller.say("\nEvery answer and every nudge was as expected.")
    if not options.once:
        _show_paste_lines(teller, service, partner, past)
    return _Ready(partner, past)


async def _make_partner(options: _Options, stage: _Stage) -> ReadyPartner:
    """Create the partner, its admin and `demo.json`; return the partner. Raises `NotMade`."""
    service, issuer, site_url = stage.service, stage.issuer, origins_of(stage.site)
    issuer.allow_redirects(f"{service.base_url}/portal/signed-in")
    partner = await make_partner(service.core, site_url)
    admin = await make_admin(service.core, partner, issuer)
    content = DemoFile(
        base_url=service.base_url,
        internal_url=service.internal_url,
        partner_id=partner.partner_id,
        test_key=partner.test_key,
        live_key=partner.live_key,
        issuer=issuer.issuer,
        admin_token=admin.token,
        totp_secret=admin.totp_secret,
        webhook_url=stage.inbox.url,
        site_url=site_url[0],
    )
    write_demo_file(options.folder, content)
    return partner


async def _play_past(stage: _Stage, backend: Backend) -> Past:
    """Play the demo's past, then add the webhook; return what was played."""
    core = stage.service.core
    stage.settlement.at_once = True
    past = await play_past(core, PARTNER_ID, backend, stage.clock)
    stage.settlement.at_once = False
    # The webhook comes last, because every match of the past would have sent it nudges.
    stage.inbox.secret = await add_webhook(core, stage.inbox.url)
    return past


def _introduce(options: _Options, teller: Teller, stage: _Stage, past: Past) -> None:
    service = stage.service
    teller.say(
        f"The service runs at {service.base_url} (health and metrics: {service.internal_url}). "
        f"All its data is in {options.folder}.\n"
        f"Keys and addresses for scripts: {options.folder / DEMO_FILE}. "
        f"Log: {options.folder / LOG_FILE}.\n"
        f"The partner's webhook is {stage.inbox.url}. "
        "In the demo, this name leads to this machine.\n"
        f"Since {past.since}, the partner has played {past.matches} test matches, with the demo's "
        f"clock put back. The portal, {service.base_url}/portal, shows them, and the invoice of "
        f"{past.month}.\n"
        "Now a partner's backend plays one match on the service: over HTTP, with a test key. It is "
        "nudged when there is news."
    )


def _show_paste_lines(
    teller: Teller, service: RunningService, partner: ReadyPartner, past: Past
) -> None:
    teller.step(
        "Your turn",
        "The service keeps running. Paste these lines into another shell as they are. The money of "
        f"a match follows {PAYOUT_DELAY_S} s after its end. Nudges are shown here as they arrive.",
    )
    order = f"order-{SystemRng().bytes(4).hex()}"
    for words, line in paste_lines(service.base_url, partner.test_key, order, past.until):
        teller.paste(f"\n# {words}\n{line}")


def _addresses(port: int) -> tuple[str, str]:
    """Return the public and the internal address: `port` and the one above it, or any free ports.

    Free ports are used when `port` is 0 or one of the two is taken.
    """
    wanted = (f"{_HOST}:{port}", f"{_HOST}:{port + 1}")
    if port:
        try:
            for address in wanted:
                bind(address).close()
        except (OSError, ValueError):
            pass
        else:
            return wanted
    return f"{_HOST}:0", f"{_HOST}:0"


def _bind_site(port: int) -> socket.socket:
    """Return the socket of the partner's site, on port `port + _SITE_ABOVE` or on a free one."""
    try:
        return bind(f"{_HOST}:{port + _SITE_ABOVE if port else 0}")
    except (OSError, ValueError):
        return bind(f"{_HOST}:0")
