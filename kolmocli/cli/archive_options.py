"""The options that `kolmo compress` and `kolmo decompress` share, and how their values are read."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from kolmocli.errors import UsageError

Files = Annotated[
    list[str] | None, typer.Argument(metavar="[FILE]...", help="files, or folders to pack; none or - is standard input")
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="output, one for several files; - is standard output"),
]
Stdout = Annotated[bool, typer.Option("--stdout", "-c", help="write to standard output")]
Suffix = Annotated[
    str | None, typer.Option("--suffix", "-S", metavar="SUFFIX", help="how names of archives end, instead of .klm")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="overwrite outputs; write an archive to a terminal")]
Keep = Annotated[bool, typer.Option("--keep", "-k", help="keep the input (the default; undoes --rm)")]
Remove = Annotated[bool, typer.Option("--rm", help="remove the input once its output is safely on disk")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="no summary and no progress")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="say what was tried and what takes the space")]
Test = Annotated[bool, typer.Option("--test", "-t", help="decode archives and write nothing")]
List = Annotated[bool, typer.Option("--list", "-l", help="list archives without decoding them")]
AllowPython = Annotated[
    bool, typer.Option("--allow-python", help="run the Python program of an archive, in the sandbox only")
]
Members = Annotated[
    list[str] | None,
    typer.Option("--member", "-m", metavar="PATH", help="take out only this file or folder; repeatable"),
]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]
Explain = Annotated[bool, typer.Option("--explain", help="print the program behind each block")]
MaxOutput = Annotated[str, typer.Option("--max-output", metavar="SIZE", help="largest original, such as 500M")]


class CompressCommand(TyperCommand):
    """Reads the levels -0 to -9, each of which is short for `--level`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        levels = [f"--level={a[1]}" if re.fullmatch("-[0-9]", a) else a for a in args[:end]]
        return super().parse_args(ctx, levels + args[end:])


def seconds(text: str) -> float:
    """`60s`, `2m`, `1.5h` or a plain number of seconds."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(s|m|h|)", text)
    if found is None:
        raise UsageError(f"--time-budget {text}: a number with s, m or h, such as 60s")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def byte_count(text: str) -> int:
    """`1000000`, `500M` or `2G`, in powers of 1024."""
    found = re.fullmatch(r"(\d{1,18})([KMGT]?)(?:i?B)?", text)
    if found is None:
        raise UsageError(f"--max-output {text}: a number of bytes, such as 1000000, 500M or 2G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[found[2]]
