"""The work of the archive commands on the archive of a folder, and their messages."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from kolmocli.cli.archiving import (
    FileOptions,
    Permissions,
    Result,
    compare_sizes,
    print_programs,
    progress_of,
    say_what_was_tried,
    share_of,
)
from kolmocli.cli.format import UNKNOWN, percent
from kolmocli.cli.output import complain, print_line, remark, show
from kolmocli.errors import UsageError, naming

if TYPE_CHECKING:
    from kolmocli.archive.folders.reader import Folder, Share
    from kolmocli.archive.folders.tree import Found
    from kolmocli.archive.format.folder import Entry
    from kolmocli.archive.options import Options

_PATH_WIDTH = 60
"""Characters that a path gets in any case; a longer one goes on in a next line where there is no more room."""
_ROWS = 1000
"""Rows of one table; longer lists continue in another one with the same columns."""


def pack_folder(names: Sequence[str], target: str, options: Options, how: FileOptions, compare: bool) -> Result:
    """Write one archive of these files and folders."""
    from kolmocli.archive.folders.packer import pack_folder as pack
    from kolmocli.archive.folders.tree import read_tree
    from kolmocli.files import check_output, write_output

    for name in names:
        check_output(name, target, how.force, binary=True)
    label = ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"
    tree = read_tree(names, None if target == "-" else target)
    for path in tree.left_out:
        complain(f"{path}: neither file nor folder nor link; skipped", "warning: ")
    started = time.monotonic()
    archive, reports = pack(tree.entries, options, progress_of(label, how))
    write_output(target, archive)
    size = sum(entry.size for entry, _ in tree.entries)
    result = {
        "input": label,
        "inputs": list(names),
        "output": target,
        "entries": len(tree.entries),
        "size": size,
        "packed": len(archive),
    }
    result |= {"seconds": round(time.monotonic() - started, 3), "members": [asdict(r) for r in reports]}
    if not how.quiet:
        share = share_of(len(archive), size)
        remark(f"{label}: {_entries(len(tree.entries))}, {size} → {len(archive)} bytes{share}, {target}")
    if how.verbose:
        say_what_was_tried(reports)
    if compare:
        result["compare"] = compare_sizes(_as_tar(tree.entries), len(archive))
    if how.explain:
        print_programs_of(archive, size)
    return result


def unpack_folder(
    name: str, archive: bytes, target: str, may: Permissions, how: FileOptions, members: Sequence[str]
) -> Result:
    """Restore the files of an archive, or some of them, below the folder `target`, or on standard output."""
    from kolmocli.archive.folders.restoring import reads_back, restore
    from kolmocli.files import remove_file, write_output

    started = time.monotonic()
    folder = opened(name, archive, may)
    with naming(name):
        wanted = [entry for member in members for entry in folder.within(os.fsencode(member))]
    wanted = list(dict.fromkeys(wanted)) if members else folder.entries
    if target == "-":
        if not members or not all(entry.is_file for entry in wanted):
            raise UsageError(f"{name}: holds a folder; name files of it with --member, or say with -o where it goes")
        write_output(target, _contents(name, folder, wanted, may))
    else:
        with naming(name):
            restore(folder, wanted, target, how.force, may.run_python)
    size = sum(entry.size for entry in wanted)
    if how.remove:
        with naming(name):
            remove_file(name, reads_back(folder, target, may.run_python), target)
    took = round(time.monotonic() - started, 3)
    if how.verbose and not how.quiet:
        remark(f"{name}: {len(archive)} → {_entries(len(wanted))}, {size} bytes in {took} s, {target}")
    if how.explain:
        print_programs_of(archive, may.max_output)
    return {
        "input": name,
        "output": target,
        "entries": len(wanted),
        "size": size,
        "packed": len(archive),
        "seconds": took,
    }


def test_folder(name: str, archive: bytes, may: Permissions, how: FileOptions) -> Result:
    """Decode all files and write nothing."""
    folder = opened(name, archive, may)
    with naming(name):
        size = sum(len(piece) for _, piece in folder.pieces(folder.entries, may.run_python))
    if not how.quiet:
        remark(f"{name}: {_entries(len(folder.entries))}, {size} bytes, OK")
    if how.explain:
        print_programs_of(archive, may.max_output)
    return {"input": name, "ok": True, "entries": len(folder.entries), "size": size, "packed": len(archive)}


def list_folder(name: str, archive: bytes, may: Permissions, how: FileOptions) -> Result:
    """Say what each file takes, without decoding one."""
    folder = opened(name, archive, may)
    with naming(name):
        shares = sorted(folder.shares(), key=lambda pair: pair[0].path)
    if not how.quiet:
        _print_table(shares)
        share = share_of(len(archive), folder.size)
        print_line(f"{name}: {_entries(len(shares))}, {folder.size} bytes in {len(archive)}{share}")
    if how.explain:
        print_programs_of(archive, may.max_output)
    return {
        "input": name,
        "size": folder.size,
        "packed": len(archive),
        "entries": [
            {
                "path": os.fsdecode(entry.path),
                "kind": entry.kind.name.lower(),
                "size": entry.size,
                "packed": round(share.packed, 1),
                "method": list(share.methods),
            }
            | ({"target": os.fsdecode(entry.target)} if entry.target else {})
            for entry, share in shares
        ],
    }


def opened(name: str, archive: bytes, may: Permissions) -> Folder:
    """The index of the archive; errors name it."""
    from kolmocli.archive.folders.reader import open_folder

    with naming(name):
        return open_folder(archive, may.max_output)


def print_programs_of(archive: bytes, max_output: int) -> None:
    """The programs behind the contents."""
    from kolmocli.archive.format.folder import read_folder

    members = read_folder(archive).members
    if members:
        print_programs(members, max_output)


def _contents(name: str, folder: Folder, wanted: Sequence[Entry], may: Permissions) -> Iterator[bytes]:
    """One file after the other, in the order in which they were asked for. Entries in the order of the archive are decoded together."""
    places = {entry: place for place, entry in enumerate(folder.entries)}
    runs: list[list[Entry]] = []
    for entry in wanted:
        if runs and places[runs[-1][-1]] < places[entry]:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    with naming(name):
        for run in runs:
            for _, piece in folder.pieces(run, may.run_python):
                yield piece


def _print_table(shares: Sequence[tuple[Entry, Share]]) -> None:
    from rich.table import Table

    rows = [_row(entry, share) for entry, share in shares]
    heads = ("path", "size", "packed", "share", "method")
    widths = [max(len(head), *(len(row[i]) for row in rows)) if rows else 0 for i, head in enumerate(heads)]
    for at in range(0, max(len(rows), 1), _ROWS):
        table = Table(box=None, show_header=at == 0, pad_edge=False)
        for head, width in zip(heads, widths, strict=True):
            if head == "path":
                table.add_column(head, overflow="fold", min_width=min(width, _PATH_WIDTH))
            else:
                table.add_column(head, justify="left" if head == "method" else "right", width=width, no_wrap=True)
        for row in rows[at : at + _ROWS]:
            table.add_row(*row)
        show(table)


def _row(entry: Entry, share: Share) -> tuple[str, ...]:
    from kolmocli.archive.format.folder import Kind, shown

    path = shown(entry.path)
    if entry.kind is Kind.LINK:
        return f"{path} → {shown(entry.target)}", "", "", "", "link"
    if entry.kind is Kind.FOLDER:
        return f"{path}/", "", "", "", "folder"
    of_size = percent(share.packed / entry.size) if entry.size else UNKNOWN
    return path, str(entry.size), f"{share.packed:.0f}", of_size, " + ".join(share.methods) or "empty"


def _as_tar(found: Sequence[Found]) -> bytes:
    """The same entries as tar has them, which is what the standard codecs are given."""
    import tarfile

    from kolmocli.archive.format.folder import Kind

    types = {Kind.FOLDER: tarfile.DIRTYPE, Kind.LINK: tarfile.SYMTYPE}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry, contents in found:
            info = tarfile.TarInfo(os.fsdecode(entry.path))
            info.size, info.type = entry.size, types.get(entry.kind, tarfile.REGTYPE)
            info.linkname = os.fsdecode(entry.target)
            tar.addfile(info, io.BytesIO(contents))
    return out.getvalue()


def _entries(count: int) -> str:
    return f"{count} " + ("entry" if count == 1 else "entries")
