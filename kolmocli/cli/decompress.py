"""`kolmo decompress`: the originals of archives, or what is in them."""

from __future__ import annotations

from kolmocli.cli.archive_options import (
    AllowPython,
    Explain,
    Files,
    Force,
    Json,
    Keep,
    List,
    MaxOutput,
    Output,
    Quiet,
    Remove,
    Stdout,
    Suffix,
    Test,
    Verbose,
    byte_count,
)
from kolmocli.cli.archiving import (
    FileOptions,
    Permissions,
    destinations,
    each,
    list_file,
    named,
    print_total,
    test_file,
    unpack_file,
)
from kolmocli.errors import UsageError


def decompress(
    files: Files = None,
    output: Output = None,
    stdout: Stdout = False,
    allow_python: AllowPython = False,
    force: Force = False,
    keep: Keep = False,
    remove: Remove = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    test: Test = False,
    list_: List = False,
    explain: Explain = False,
    max_output: MaxOutput = "1G",
    json: Json = False,
    suffix: Suffix = None,
) -> None:
    """Restore the originals of archives. Needs no model; runs no code from the archive."""
    from kolmocli.files import unpacked_name

    names, remove = files or ["-"], remove and not keep
    runner = None
    if allow_python:
        from kolmocli.archive.python_mode import PythonRunner

        runner = PythonRunner()
    may = Permissions(byte_count(max_output), runner)
    if test or list_:
        if remove or output or stdout or suffix is not None:
            raise UsageError("--test and --list write and remove nothing: leave out -o, -c, -S and --rm")
        look = list_file if list_ else test_file
        how = FileOptions(quiet=quiet or json, explain=explain)
        found = each(names, lambda name: look(name, may, how), json)
        if list_ and len(names) > 1 and not how.quiet:
            print_total(found)
        return
    how = FileOptions(force=force, remove=remove, quiet=quiet, verbose=verbose, explain=explain)
    name_of = named(unpacked_name, suffix, output, stdout)
    destination = destinations(names, output, stdout, name_of, remove, prints=json or explain)

    each(names, lambda name: unpack_file(name, destination(name), may, how), json)
