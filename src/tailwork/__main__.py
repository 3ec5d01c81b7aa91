"""`python -m tailwork`, and the command `tailwork`."""

import sys


def main() -> int:
    """Run the command line; Ctrl-C ends it at once and quietly, also while it is still being imported."""
    try:
        from tailwork.cli.main import main as run  # takes a while

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
