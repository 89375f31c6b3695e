"""The entry point of `pgs` and `python -m pgs`."""

from pgs.cli.errors import printing_help
from pgs.cli.main import app


def main() -> None:
    """Run the command line."""
    with printing_help():
        app(prog_name="pgs")


if __name__ == "__main__":
    main()
