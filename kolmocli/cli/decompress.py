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
    Members,
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
    Result,
    destinations,
    each,
    list_file,
    named,
    print_total,
    test_file,
    unpack_file,
)
from kolmocli.cli.folders import list_folder, test_folder, unpack_folder
from kolmocli.errors import UsageError


def decompress(
    files: Files = None,
    output: Output = None,
    stdout: Stdout = False,
    members: Members = None,
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
    from kolmocli.archive.format.folder import is_folder
    from kolmocli.files import read_archive, unpacked_name

    names, remove = files or ["-"], remove and not keep
    runner = None
    if allow_python:
        from kolmocli.archive.python_mode import PythonRunner

        runner = PythonRunner()
    may = Permissions(byte_count(max_output), runner)
    if test or list_:
        if remove or output or stdout or suffix is not None or members:
            raise UsageError("--test and --list write and remove nothing: leave out -o, -c, -S, --member and --rm")
        how = FileOptions(quiet=quiet or json, explain=explain)
        look, look_into = (list_file, list_folder) if list_ else (test_file, test_folder)

        def looked_at(name: str) -> Result:
            archive = read_archive(name)
            return (look_into if is_folder(archive) else look)(name, archive, may, how)

        found = each(names, looked_at, json)
        if list_ and len(names) > 1 and not how.quiet:
            print_total(found)
        return
    if members and remove:
        raise UsageError("--rm would remove what --member leaves in the archive: take one")
    how = FileOptions(force=force, remove=remove, quiet=quiet, verbose=verbose, explain=explain)
    name_of = named(unpacked_name, suffix, output, stdout)
    destination = destinations(names, output, stdout, name_of, remove, prints=json or explain)

    def unpack(name: str) -> Result:
        target = destination(name)
        archive = read_archive(name)
        if is_folder(archive):
            return unpack_folder(name, archive, target, may, how, members or [])
        if members:
            raise UsageError(f"{name}: holds a single file; leave out --member")
        return unpack_file(name, archive, target, may, how)

    each(names, unpack, json)
