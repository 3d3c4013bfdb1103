"""`kolmo worker`: this machine lends itself to the training runs of others."""

from __future__ import annotations

from typing import Annotated

import typer

from kolmocli.cli.output import remark


def worker(
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="ADDRESS",
            help="tls://host:port, or tcp://host:port, with the name by which others reach this machine",
        ),
    ],
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="allow tcp:// beyond this machine: anyone who reaches it can run code here"),
    ] = False,
) -> None:
    """Wait for runs that name this address in `--hosts`, and start generators for them. Ctrl-C ends it.

    With tls:// both ends show a certificate of one authority, named by HYPERACTOR_TLS_CERT, HYPERACTOR_TLS_KEY and
    HYPERACTOR_TLS_CA.
    """
    from kolmocli.engine.monarch.worker import serve

    serve(listen, insecure=insecure, report=remark)
