"""The command `neurowhere`, and `python -m neurowhere` where it is not on the path."""

import sys

INTERRUPTED = 130  # exit code of what Ctrl-C ends


def main() -> None:
    """Run the command line; Ctrl-C is no traceback, also while its modules are imported."""
    try:
        from neurowhere.cli import main as run_command

        run_command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
