"""The command line."""

from tailwork.cli.main import main

__all__ = ["main"]
