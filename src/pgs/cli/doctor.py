"""`pgs doctor`: whether the service could start here, and what an operator should repair."""

from typing import Final

import trio
import typer
from rich.console import RenderableType

from pgs.cli.errors import REFUSED, expected
from pgs.cli.options import ConfigFile, DataDir, Json, settings, show
from pgs.cli.tables import add_row, new_table
from pgs.config import BadSettings
from pgs.doctor.finding import Finding, Report, summarised

_SIGNS: Final = {"ok": "ok", "warning": "WARNING", "problem": "PROBLEM", "skipped": "–"}


def doctor(as_json: Json = False, config: ConfigFile = None, data: DataDir = None) -> None:
    """Check everything that a start depends on, and change nothing. Exit code 1 for a problem.

    It looks at the settings, the data folder and its disk, the key ring, the database, the
    listeners, and at the services that the settings name. It works beside a running service too.
    """
    with expected():
        try:
            loaded = settings(config, data)
        except BadSettings as error:
            told = summarised((Finding("settings", "problem", str(error), "docs/operations.md"),))
        else:
            # Imported here, because most commands do not need it.
            from pgs.doctor.examine import examine

            told = trio.run(examine, loaded)
        show(told, _draw, as_json=as_json)
    if not told.sound:
        raise typer.Exit(REFUSED)


def _draw(told: Report) -> RenderableType:
    table = new_table("pgs doctor", "Check", "Status", "Found", "What to do")
    for finding in told.checks:
        add_row(table, finding.check, _SIGNS[finding.status], finding.found, finding.next_step)
    return table
