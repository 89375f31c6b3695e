"""The process of `pgs serve`: its signals, its log, and the interpreter's settings."""

import gc
import os
import signal
import sys
from contextlib import suppress

import trio

from pgs.clock import SystemClock
from pgs.config import Config
from pgs.logs import Lines, logging_to, standard_error
from pgs.serve import running

SWITCH_INTERVAL_S = 0.0005
"""Seconds after which the interpreter lets another thread run. At the default of 5 ms the event
loop and the writer thread wait for each other."""

GC_AFTER = 10_000
"""Objects by which allocations may exceed deallocations before the garbage collector checks the
youngest ones. At the default of Python 3.11, 700, it would run fourteen times as often."""


def tune_garbage_collector() -> None:
    """Exempt every object that exists now from garbage collection, and collect less often.

    Only a process that does nothing but serve may call it. A started service has some 85,000
    objects, nearly all of them modules and types that stay. A full collection took 42 ms, in which
    no call was answered; without these objects it takes almost no time.

    Collections of young objects come less often, too. While 150 nudges waited for endpoints that
    did not answer, these collections took 1 % of the time, in pauses of up to 12 ms; now they take
    a twentieth of that. What only the collector can free stays longer, but a nudge leaves nothing
    of that kind.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_AFTER)


async def _until_signalled(config: Config, lines: Lines) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with running(config, lines=lines) as service:
            tune_garbage_collector()
            where = f"internal {service.internal_url}, data {config.data_dir}"
            if service.base_url != service.listening:
                where = f"listening on {service.listening}, {where}"
            _say(f"pgs is ready: {service.base_url} ({where})\n")
            async for _ in signals:
                return


def _say(text: str) -> None:
    """Write to standard output. A closed output, or a failed write, is no error.

    The text bypasses the output's buffer, where a failed write would stay and fail again at the
    exit.
    """
    if sys.stdout is not None:
        with suppress(OSError):
            os.write(sys.stdout.fileno(), os.fsencode(text))  # names need not be UTF-8


def run(config: Config) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with logging_to(standard_error(), config.log_level, SystemClock()) as lines:
        trio.run(_until_signalled, config, lines)
    return 0
