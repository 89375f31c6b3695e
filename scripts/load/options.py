"""The options that the load testers of the actors and of HTTP share."""

from pathlib import Path
from typing import Annotated

import typer

Rate = Annotated[float, typer.Option(min=0.1, help="Launches a second, of all partners.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="How long new launches are begun.")]
Partners = Annotated[int, typer.Option(min=1, help="Partners that launch in turn.")]
PollEvery = Annotated[
    float, typer.Option(min=0.01, metavar="SECONDS", help="Between two reads of a feed.")
]
Decided = Annotated[
    float, typer.Option(min=0, max=1, help="The share of matches that are decided.")
]
SeedOf = Annotated[int, typer.Option("--seed", help="Seed of endings and replays.")]
Report = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report there.")]
Picture = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw p50 and p99 there, as SVG.")
]
