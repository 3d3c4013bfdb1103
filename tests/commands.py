"""The commands of `kolmo` with their options, made once in a process, and so not by each command that is forked from it.

Typer makes them of the signatures at every call, which takes a tenth of a second: a program calls it once, tests a thousand times.
"""

from __future__ import annotations

import functools

import typer.main

from kolmocli.cli.app import app

typer.main.get_command = functools.cache(typer.main.get_command)
typer.main.get_command(app)
