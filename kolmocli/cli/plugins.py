"""`--plugin`: code that a user asks for, so that a curriculum file can name what it registers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Annotated

import typer

Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="FILE|MODULE",
        help="run this Python file or module first: it registers families of tasks, controllers, rewards or methods; may be repeated",
    ),
]


def load_plugins(plugins: Sequence[str] | None) -> None:
    """Raises UsageError for one that is not there or fails, in one line with its file and line. What it prints is no result."""
    from kolmocli.registry import load_plugin

    with redirect_stdout(sys.stderr):
        for plugin in plugins or ():
            load_plugin(plugin)
