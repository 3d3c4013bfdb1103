"""The `kolmo` command: one place where arguments come in and exit codes go out.

Nothing heavy is imported here, not even Typer before `main` runs, so that Ctrl-C meets a handler early.
"""

from __future__ import annotations

import errno
import re
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from kolmocli.cli.output import complain
from kolmocli.cli.streams import close_stdout, discard_stdout, lost_output, open_streams, takes_no_more
from kolmocli.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, KolmoError
from kolmocli.extras import needing

EXIT_INTERRUPTED = 128 + signal.SIGINT
_SHOWN = 100
"""Characters of a file's name that are shown of a longer one."""
_STOPPED = [128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; what a user can fix ends as one line on stderr."""
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, _terminate)
    open_streams()
    try:
        code = close_stdout(_run(hyphenated(sys.argv[1:] if arguments is None else arguments)))
    except KolmoError as error:
        code = error.exit_code
        # A run that was stopped by a signal has saved itself: no error, and its message says so.
        complain(str(error), "" if code in _STOPPED else "error: ")
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        code = _reader_left()
    except OSError as error:
        if takes_no_more(error):
            code = lost_output(error)
        elif error.filename is None:
            raise
        else:
            code = _of_a_file(error)
    # What is left is tidying up: a second Ctrl-C may end it, but not with a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return code


def _run(arguments: list[str]) -> int:
    import typer

    from kolmocli.cli.app import app

    try:
        with needing("this command"):
            code = app(arguments, prog_name="kolmo", standalone_mode=False)
    except typer.TyperException as error:
        return _usage(error)
    except typer.Abort:
        return EXIT_INTERRUPTED
    return code if isinstance(code, int) else EXIT_OK


def _of_a_file(error: OSError) -> int:
    """Report a system error about a file for which there is no other message: a name too long, a folder that may not be read."""
    name = str(error.filename)
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    complain(f"{shown}: {error.strerror}")
    return EXIT_USAGE if error.errno == errno.ENAMETOOLONG else EXIT_FAILED


def _usage(error: Exception) -> int:
    """Wrong arguments: the line, and where to read more."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "kolmo"
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message, file=sys.stderr)
    else:
        complain(f"{message.rstrip('.')}; see {command} --help")
    return int(getattr(error, "exit_code", EXIT_USAGE))


def hyphenated(arguments: Sequence[str]) -> list[str]:
    """Both spellings of a long option: `--model_name=x` is `--model-name=x`. Values stay as they are."""
    options = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    spelled = [re.sub(r"^--[^=]+", lambda name: name[0].replace("_", "-"), option) for option in options]
    return spelled + list(arguments[len(options) :])


def _terminate(number: int, _frame: FrameType | None) -> None:
    """SIGTERM, or a closed terminal, before or after training, which saves first and therefore has a handler of its own."""
    raise SystemExit(128 + number)


def _reader_left() -> int:
    """`kolmo … | head`: the reader has enough. Nothing more may be written, not even at exit."""
    discard_stdout()
    return EXIT_FAILED
