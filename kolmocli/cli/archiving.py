"""The work of the archive commands on each file, and their messages."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

from kolmocli.cli.format import percent
from kolmocli.cli.output import complain, print_json, print_line, remark, show
from kolmocli.errors import EXIT_OK, KolmoError, UsageError, naming

if TYPE_CHECKING:
    from kolmocli.archive.opener import RunPython
    from kolmocli.archive.options import Options
    from kolmocli.archive.packer import MemberReport
    from kolmocli.archive.progress import Progress

Result = dict[str, Any]
"""Result for one file, as `--json` prints it."""
_SECONDS_OF_PROGRESS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """Treatment of each file of a command, and the words about it."""

    force: bool = False
    remove: bool = False
    quiet: bool = False
    verbose: bool = False
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Permissions:
    """Limits for an archive: at most `max_output` bytes, and a runner of its Python program (None: refused)."""

    max_output: int
    run_python: RunPython | None = None

    def decode(self, name: str, archive: bytes) -> Iterator[bytes]:
        """The original of the archive in the file `name`, which errors name, member by member."""
        from kolmocli.archive.opener import decoded

        with naming(name):
            yield from decoded(archive, self.max_output, self.run_python)


def named(
    name_of: Callable[[str, str], str], suffix: str | None, output: str | None, stdout: bool
) -> Callable[[str], str]:
    """`packed_name` or `unpacked_name` with the suffix of the command line (None: .klm)."""
    from kolmocli.files import SUFFIX

    if suffix is None:
        return lambda name: name_of(name, SUFFIX)
    if stdout or output is not None:
        raise UsageError("-S makes the names of outputs, which -o and -c give already: use only one of them")
    if not suffix or "/" in suffix:
        raise UsageError(f"-S {suffix!r}: an ending of file names, such as .klm")
    return lambda name: name_of(name, suffix)


def destinations(
    names: Sequence[str], output: str | None, stdout: bool, name_of: Callable[[str], str], remove: bool, prints: bool
) -> Callable[[str], str]:
    """A function that names the output of each file. `prints`: the command has results of its own for standard output."""
    if output is not None and stdout and output != "-":
        raise UsageError("-c and -o name two outputs: take one")
    if output is not None and output != "-" and len(names) > 1:
        raise UsageError(f"-o {output} cannot take {len(names)} files: remove it, or use -c to put them together")

    def destination(name: str) -> str:
        target = "-" if stdout else output if output is not None else name_of(name)
        if target == "-" and prints:
            raise UsageError("--json, --explain and --compare print on standard output: name a file with -o")
        if remove and "-" in (name, target):
            raise UsageError("--rm needs an input and an output that are files: remove it")
        return target

    return destination


def each(names: Sequence[str], work: Callable[[str], Result], json: bool) -> list[Result]:
    """Work on each file; the first error decides the exit code, the other files are still worked on."""
    results, code = [], EXIT_OK
    for name in names:
        try:
            results.append(work(name))
        except KolmoError as error:
            if len(names) == 1:
                raise
            complain(str(error))
            code = code or error.exit_code
    if json:
        print_json({"files": results})
    if code:
        raise typer.Exit(code)
    return results


def pack_file(name: str, target: str, options: Options, how: FileOptions, compare: bool) -> Result:
    """Write the archive of a file."""
    from kolmocli.archive.packer import compress_with_reports
    from kolmocli.files import check_output, read_input, remove_input, write_output

    check_output(name, target, how.force, binary=True)
    data = read_input(name)
    started = time.monotonic()
    with naming(name):
        archive, reports = compress_with_reports(data, options, progress_of(name, how))
    write_output(target, archive, like=name)
    if how.remove:
        remove_input(name, target, archive)
    result = {"input": name, "output": target, "size": len(data), "packed": len(archive)}
    result |= {"seconds": round(time.monotonic() - started, 3), "members": [asdict(r) for r in reports]}
    if not how.quiet:
        remark(f"{name}: {len(data)} → {len(archive)} bytes{share_of(len(archive), len(data))}, {target}")
        if options.view != "auto" and not any(way.startswith("programs") for r in reports for way in r.attempts):
            remark(f"{name}: no program was found with --format {options.view}; packed by {reports[0].codec}")
    if how.verbose:
        say_what_was_tried(reports)
    if compare:
        result["compare"] = compare_sizes(data, len(archive))
    if how.explain:
        print_programs(archive, len(data))
    return result


def unpack_file(name: str, archive: bytes, target: str, may: Permissions, how: FileOptions) -> Result:
    """Write the original of an archive."""
    from kolmocli.files import check_output, remove_input, write_output

    check_output(name, target, how.force, binary=False)
    started, size = time.monotonic(), 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for part in may.decode(name, archive):
            size += len(part)
            yield part

    write_output(target, counted(), like=name)
    if how.remove:
        remove_input(name, target, may.decode(name, archive))
    took = round(time.monotonic() - started, 3)
    if how.verbose and not how.quiet:
        remark(f"{name}: {len(archive)} → {size} bytes in {took} s, {target}")
    if how.explain:
        print_programs(archive, may.max_output)
    return {"input": name, "output": target, "size": size, "packed": len(archive), "seconds": took}


def test_file(name: str, archive: bytes, may: Permissions, how: FileOptions) -> Result:
    """Decode an archive and write nothing."""
    size = sum(map(len, may.decode(name, archive)))
    if not how.quiet:
        remark(f"{name}: {size} bytes, OK")
    if how.explain:
        print_programs(archive, may.max_output)
    return {"input": name, "ok": True, "size": size, "packed": len(archive)}


def list_file(name: str, archive: bytes, may: Permissions, how: FileOptions) -> Result:
    """Say what an archive holds, without decoding it."""
    from kolmocli.archive.folders.reader import methods_of
    from kolmocli.archive.opener import members

    with naming(name):
        found = members(archive, may.max_output)
    size = sum(m.size for m in found)
    sections = [
        {"kind": method, "bytes": len(section.payload)}
        for member in found
        for method, section in zip(methods_of(member), member.sections, strict=True)
    ]
    if not how.quiet:
        kinds = ", ".join(f"{s['kind']} {s['bytes']}" for s in sections) or "empty"
        share, plural = share_of(len(archive), size), "s" * (len(found) > 1)
        print_line(f"{name}: {size} bytes in {len(archive)}{share}, {len(found)} member{plural}: {kinds}")
    if how.explain:
        print_programs(archive, may.max_output)
    return {"input": name, "members": len(found), "size": size, "packed": len(archive), "sections": sections}


def print_total(listed: Sequence[Result]) -> None:
    """The last line of a list of several archives."""
    size, packed = (sum(result[key] for result in listed) for key in ("size", "packed"))
    print_line(f"{len(listed)} archives: {size} bytes in {packed}{share_of(packed, size)}")


def say_what_was_tried(reports: Sequence[MemberReport]) -> None:
    for r in reports:
        remark(
            f"  {r.view}, {r.programs} programs for {r.covered} items ({r.proposed} by the model), residual {r.codec}"
        )
        remark("  " + ", ".join(f"{way} {size}" for way, size in sorted(r.attempts.items(), key=lambda kv: kv[1])))


def compare_sizes(data: bytes, packed: int) -> dict[str, int]:
    """Print our size and those of the standard codecs, the smallest first."""
    from kolmocli.evaluation.baselines import codecs

    sizes = {codec: len(encode(data)) for codec, encode in codecs().items()}
    for label, size in sorted([("kolmo", packed), *sizes.items()], key=lambda kv: kv[1]):
        print_line(f"{label:8} {size:>12}{share_of(size, len(data))}")
    return sizes


def print_programs(archive: bytes, max_output: int) -> None:
    """The programs of an archive, in colour on a terminal."""
    from kolmocli.archive import explain

    explanation = explain(archive, max_output)
    if not sys.stdout.isatty():
        print_line(explanation, "\n\t")
        return
    from rich.syntax import Syntax

    show(Syntax(str(explanation), "python", background_color="default"))


def progress_of(name: str, how: FileOptions) -> Progress:
    """Progress on stderr: one line that is written over on a terminal, else with -v a line now and then."""
    from kolmocli.archive.progress import TimeLeft, silent

    terminal, left, said = sys.stderr.isatty(), TimeLeft(), time.monotonic()
    if how.quiet or not (terminal or how.verbose):
        return silent

    def say(stage: str, done: float | None = None) -> None:
        nonlocal said
        seconds = left.after(done)
        if terminal or time.monotonic() >= said + _SECONDS_OF_PROGRESS:
            said = time.monotonic()
            line = f"{name}: {stage}" if done is None else f"{name}: {stage}, {100 * done:.0f} %"
            line += f", about {seconds:.0f} s left" if seconds is not None and seconds >= 1 else ""
            remark(line, "\r")

    return say


def share_of(part: int, whole: int) -> str:
    return f" ({percent(part / whole)})" if whole else ""
