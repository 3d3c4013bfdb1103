"""`kolmo compress` and `kolmo decompress` with the habits of gzip, xz and zstd."""

import json
import os
import re
import struct
import time
from dataclasses import replace

import pytest

from kolmocli.archive.packer import compress, compress_with_reports
from kolmocli.cli import archiving
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse

from . import samples

DATA = samples.SMALL["mixed"]


@pytest.fixture(scope="module")
def archive():
    return compress(DATA)


def names():
    return sorted(os.listdir("."))


def test_there_and_back(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    done = kolmo("compress", "a")
    assert done.code == 0
    assert f"{len(DATA)} →" in done.err
    assert done.out == b""
    assert names() == ["a", "a.klm"]
    os.unlink("a")
    assert kolmo("decompress", "a.klm").code == 0
    assert (tmp_path / "a").read_bytes() == DATA
    assert names() == ["a", "a.klm"]


def test_pipes(kolmo):
    packed = kolmo("compress", stdin=DATA)
    assert packed.code == 0
    assert kolmo("decompress", "-", stdin=packed.out).out == DATA
    assert kolmo("compress", "-dc", stdin=packed.out).out == DATA
    assert names() == []


def test_several_files_and_concatenated_members(kolmo, tmp_path):
    parts = {"a": DATA, "b": b"", "c": samples.SMALL["text"]}
    for name, data in parts.items():
        (tmp_path / name).write_bytes(data)
    assert kolmo("compress", "-q", *parts).code == 0
    together = kolmo("compress", "-c", "-q", *parts).out
    assert kolmo("decompress", "-c", stdin=together).out == b"".join(parts.values())
    assert kolmo("decompress", "-c", "a.klm", "b.klm", "c.klm").out == b"".join(parts.values())
    assert kolmo("compress", "-q", "-o", "x.klm", "a", "b").code == 0
    assert kolmo("decompress", "-c", "x.klm", "-m", "b", "-m", "a").out == DATA


def test_levels_and_output(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    sizes = {}
    for level in ("-0", "-9"):
        assert kolmo("compress", level, "a", "-o", f"out{level}.klm", "-q").code == 0
        sizes[level] = os.path.getsize(f"out{level}.klm")
    assert sizes["-9"] < sizes["-0"]
    assert kolmo("decompress", "out-9.klm", "-o", "-").out == DATA


def test_programs_are_searched_from_level_2_on(kolmo, tmp_path):
    (tmp_path / "ramp").write_bytes(bytes(range(0, 250, 5)) * 40)
    found = {}
    for level in (1, 2):
        assert kolmo("compress", f"-{level}", "ramp", "-o", f"out{level}.klm", "-q").code == 0
        found[level] = "programs" in kolmo("decompress", "--list", f"out{level}.klm").out.decode()
    assert found == {1: False, 2: True}


def test_list_and_json(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    made = json.loads(kolmo("compress", "--json", "-q", "a").out)
    assert made["schema_version"] == 1
    assert made["files"][0]["packed"] == os.path.getsize("a.klm")
    listed = json.loads(kolmo("decompress", "-l", "--json", "a.klm").out)["files"][0]
    assert (listed["size"], listed["members"]) == (len(DATA), 1)
    assert f"{len(DATA)} bytes" in kolmo("compress", "-l", "a.klm").out.decode()
    assert kolmo("compress", "--json", "-c", "a").code == 2


def test_several_archives_are_listed_with_their_total(kolmo, tmp_path):
    for name in ("a.klm", "b.klm"):
        (tmp_path / name).write_bytes(compress(DATA))
    shown = kolmo("compress", "-l", "a.klm", "b.klm").out.decode().splitlines()
    assert len(shown) == 3
    assert f"2 archives: {2 * len(DATA)} bytes" in shown[2]
    assert kolmo("compress", "-lq", "a.klm", "b.klm").out == b""


def test_explain_prints_programs(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(bytes(range(10, 250, 3)) * 2)
    shown = kolmo("compress", "-q", "--explain", "a").out.decode()
    assert "range_func_interval(10, 250, 3)" in shown
    assert kolmo("decompress", "-t", "-q", "--explain", "a.klm").out.decode() == shown


def test_explain_tells_how_the_data_are_seen(kolmo, tmp_path):
    (tmp_path / "fib").write_bytes(samples.RULED["fibonacci"])
    shown = kolmo("compress", "-9", "-q", "--explain", "fib").out.decode()
    assert "1 block\n" in shown
    assert "60 rows of '{column 1}, '" in shown
    assert "# x[n] = x[n-1] + x[n-2], 60 items" in shown
    (tmp_path / "f").write_bytes(samples.RULED["floats"])
    assert "items are f32le times 100\n" in kolmo("compress", "-q", "--explain", "f").out.decode()


@pytest.mark.parametrize("option", ["--samples=3", "--seed=1", "--device=cpu"])
def test_what_only_a_model_needs_is_refused_without_one(kolmo, tmp_path, option):
    (tmp_path / "a").write_bytes(DATA)
    done = kolmo("compress", option, "a")
    assert done.code == 2
    assert f"{option.partition('=')[0]} means nothing without --model" in done.err
    assert names() == ["a"]


@pytest.mark.parametrize(
    "option", ["-9", "--samples=3", "--format=u8", "--time-budget=1s", "--compare", "--cache=c", "--type=i32"]
)
@pytest.mark.parametrize("mode", ["-d", "-t", "-l"])
def test_what_only_packing_needs_is_refused_where_archives_are_read(kolmo, tmp_path, archive, option, mode):
    (tmp_path / "a.klm").write_bytes(archive)
    done = kolmo("compress", mode, option, "a.klm")
    assert done.code == 2
    assert f"means nothing with {mode}" in done.err
    assert names() == ["a.klm"]


def test_types_that_are_told(kolmo, tmp_path):
    header = b"a header of 25 bytes, yes "
    data = header + b"".join(struct.pack(">hf", x, x / 3) for x in samples.walk(2_000))
    (tmp_path / "a").write_bytes(data)
    assert kolmo("compress", "-q", f"--type=i16be,f32be@{len(header)}", "a").code == 0
    assert kolmo("decompress", "-c", "a.klm").out == data
    told = os.path.getsize("a.klm")
    assert kolmo("compress", "-q", "-f", "--type=i16be", "a").code == 0
    assert told < os.path.getsize("a.klm")


@pytest.mark.parametrize(
    ("types", "message"),
    [("i24", "no type 'i24'"), ("i16,", "no type ''"), ("i16@x", "behind @"), ("f8", "no type 'f8'")],
)
def test_types_that_there_are_not(kolmo, tmp_path, types, message):
    (tmp_path / "a").write_bytes(DATA)
    done = kolmo("compress", "--type", types, "a")
    assert (done.code, names()) == (2, ["a"])
    assert message in done.err


def test_a_view_that_finds_nothing_is_said(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(samples.SMALL["noise"])
    done = kolmo("compress", "--format", "csv", "a")
    assert done.code == 0
    assert "no program was found with --format csv" in done.err


def test_programs_are_remembered_from_one_run_to_the_next(kolmo, tmp_path):
    program = "a = range_func_interval(3, 253, 5)\nb = scan_add(a)\nc = modulo_item_list(b, 97)\nd = scan_add(c)\n"
    program += "e = modulo_item_list(d, 251)\noutput = get_subsequence_between_indices(e, 0, 30)"
    sequence = evaluate(parse(program))
    (tmp_path / "a").write_bytes(bytes(sequence))
    assert kolmo("compress", "-q", "a", "-o", "plain.klm").code == 0
    (tmp_path / "known.jsonl").write_text(json.dumps({"sequence": sequence, "program": program}) + "\n")
    assert kolmo("compress", "-q", "--cache", "known.jsonl", "a").code == 0
    assert os.path.getsize("a.klm") < os.path.getsize("plain.klm")
    assert kolmo("decompress", "-c", "a.klm").out == bytes(sequence)
    (tmp_path / "known.jsonl").write_text("{}\n")
    done = kolmo("compress", "-f", "--cache", "known.jsonl", "a")
    assert done.code == 1
    assert "known.jsonl, line 1" in done.err


def test_compare_shows_the_standard_codecs(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    shown = kolmo("compress", "-q", "--compare", "a").out.decode()
    assert {line.split()[0] for line in shown.splitlines()} == {"kolmo", "gzip", "bz2", "xz", "zstd", "brotli"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["compress", "missing"], 1, "no such file"),
        (["compress", "."], 2, "directory"),
        (["compress", "."], 2, "-o"),
        (["decompress", "."], 2, "-o"),
        (["decompress", ".", "-o", "b"], 1, "directory"),
        (["decompress", "a"], 2, "-o"),
        (["compress", "a", "--format", "u7"], 2, "i16le"),
        (["compress", "a", "-1", "--format", "u8"], 2, "-1 has none: give -2 to -9, or remove --format"),
        (["compress", "a", "-0", "--model", "tiny"], 2, "-0 has none: give -2 to -9, or remove --model"),
        (["compress", "a", "-1", "--cache", "c"], 2, "-1 has none: give -2 to -9, or remove --cache"),
        (["compress", "a", "-f", "--cache", "a.klm"], 1, "a.klm, line 1"),
        (["compress", "a", "-f", "--cache", "/dev/zero"], 2, "device"),
        (["compress", "a", "--time-budget", "soon"], 2, "60s"),
        (["decompress", "a.klm", "--max-output", "many"], 2, "500M"),
        (["decompress", "a.klm", "--max-output", "9" * 5000], 2, "500M"),
        (["compress", "a", "--time-budget", "9" * 400], 2, "60s"),
        (["compress", "a", "--type", "i32@" + "9" * 5000], 2, "i32@44"),
        (["decompress", "a.klm", "-c", "--max-output", "10"], 1, "limit"),
        (["compress", "a", "-c", "-o", "b"], 2, "two outputs"),
        (["compress", "a", "-o", "/dev/full"], 1, "No space"),
        (["compress", "a", "-o", "no/such/folder"], 1, "No such file"),
        (["compress", "a.klm"], 2, "already"),
        (["compress", "a", "-c", "--rm"], 2, "--rm"),
        (["compress", "a", "-c", "-S", ".x"], 2, "-S"),
        (["compress", "a", "-S", ""], 2, "-S"),
        (["decompress", "-t", "a.klm", "-S", ".klm"], 2, "-S"),
        (["decompress", "-", "-o", "b", "--rm"], 2, "--rm"),
    ],
)
def test_what_goes_wrong_is_one_line(kolmo, tmp_path, archive, arguments, code, words):
    (tmp_path / "a").write_bytes(DATA)
    (tmp_path / "a.klm").write_bytes(archive)
    done = kolmo(*arguments)
    assert done.code == code
    assert words in done.err
    assert done.err.count("\n") == 1
    assert names() == ["a", "a.klm"]


def test_the_last_of_compressing_and_decompressing_counts(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    assert kolmo("compress", "-d", "-z", "-q", "a").code == 0
    assert kolmo("compress", "-z", "-d", "-f", "-q", "a.klm").code == 0
    assert names() == ["a", "a.klm"]
    assert (tmp_path / "a").read_bytes() == DATA


def test_a_time_budget_is_shared_out_among_the_files(kolmo, tmp_path, monkeypatch):
    budgets = []

    def watched(data, options, progress):
        budgets.append(options.deadline - time.monotonic())
        return compress_with_reports(data, replace(options, level=0), progress)

    monkeypatch.setattr("kolmocli.archive.packer.compress_with_reports", watched)
    for name in "abc":
        (tmp_path / name).write_bytes(DATA)
    assert kolmo("compress", "-q", "--time-budget", "600s", *"abc").code == 0
    assert [round(b, -2) for b in budgets] == [200, 300, 600]


def test_a_suffix_of_ones_own(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    assert kolmo("compress", "-q", "-S", ".kz", "a").code == 0
    assert kolmo("compress", "-q", "-S", ".kz", "a.kz").code == 2
    os.unlink("a")
    assert "-S" in kolmo("decompress", "a.kz").err
    assert kolmo("compress", "-dq", "-S", ".kz", "a.kz").code == 0
    assert (tmp_path / "a").read_bytes() == DATA
    assert names() == ["a", "a.kz"]


def test_progress_is_plain_lines_where_there_is_no_terminal(kolmo, tmp_path, monkeypatch):
    monkeypatch.setattr(archiving, "_SECONDS_OF_PROGRESS", 0.0)
    (tmp_path / "a").write_bytes(DATA)
    assert re.search(r"^a: verify, \d\d %$", kolmo("compress", "-v", "a").err, re.MULTILINE)
    assert "verify" not in kolmo("compress", "-f", "a").err
    assert kolmo("compress", "-fvq", "a").err.count("a: ") == 0
