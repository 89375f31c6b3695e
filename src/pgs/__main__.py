"""The command line: `pgs`, or `python -m pgs`."""

from pgs.cli.main import app


def main() -> None:
    """Run the command line."""
    app(prog_name="pgs")


if __name__ == "__main__":
    main()
