"""`kolmo compress` and `kolmo decompress` with the habits of gzip, xz and zstd, and their historic mistakes."""

import io
import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from kolmocli.archive import files
from kolmocli.archive.compress import compress
from kolmocli.cli.main import main
from kolmocli.errors import KolmoError, UsageError
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse

from . import samples

DATA = samples.SMALL["mixed"]


@pytest.fixture
def kolmo(tmp_path, monkeypatch, capfdbinary):
    """Runs a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    handlers = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin), isatty=lambda: False))
        code = main(list(arguments))
        out, err = capfdbinary.readouterr()
        return SimpleNamespace(code=code, out=out, err=err.decode())

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


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
    done = kolmo("compress", "-o", "x.klm", "a", "b")
    assert (done.code, "x.klm" in names()) == (2, False)


def test_levels_and_output(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    sizes = {}
    for level in ("-0", "-9"):
        assert kolmo("compress", level, "a", "-o", f"out{level}.klm", "-q").code == 0
        sizes[level] = os.path.getsize(f"out{level}.klm")
    assert sizes["-9"] < sizes["-0"]
    assert kolmo("decompress", "out-9.klm", "-o", "-").out == DATA


def test_nothing_is_overwritten_silently(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    (tmp_path / "a.klm").write_bytes(b"precious")
    done = kolmo("compress", "a")
    assert (done.code, (tmp_path / "a.klm").read_bytes()) == (1, b"precious")
    assert "-f" in done.err
    assert kolmo("compress", "-f", "a").code == 0
    (tmp_path / "a").write_bytes(b"changed")
    assert kolmo("decompress", "a.klm").code == 1
    assert (tmp_path / "a").read_bytes() == b"changed"


def test_the_input_is_never_the_output(kolmo, tmp_path):
    (tmp_path / "a.klm").write_bytes(compress(DATA)[0])
    os.link("a.klm", "other")
    for target in ("a.klm", "other", "./a.klm"):
        for command in ("compress", "decompress"):
            done = kolmo(command, "-f", "a.klm", "-o", target)
            assert done.code == 2
            assert "is the input" in done.err
    assert (tmp_path / "a.klm").read_bytes() == compress(DATA)[0]


def test_a_damaged_archive_leaves_a_good_file_alone(kolmo, tmp_path):
    archive = bytearray(compress(DATA)[0])
    archive[-9] ^= 4
    (tmp_path / "a.klm").write_bytes(archive)
    (tmp_path / "a").write_bytes(b"good")
    done = kolmo("decompress", "-f", "--rm", "a.klm")
    assert done.code == 1
    assert done.err.startswith("kolmo: error: a.klm: ")
    assert (tmp_path / "a").read_bytes() == b"good"
    assert names() == ["a", "a.klm"]


def test_remove_and_keep(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    assert kolmo("compress", "--rm", "a").code == 0
    assert names() == ["a.klm"]
    assert kolmo("decompress", "--rm", "-k", "a.klm").code == 0
    assert names() == ["a", "a.klm"]
    assert kolmo("decompress", "--rm", "-f", "a.klm").code == 0
    assert names() == ["a"]


def test_remove_needs_the_output_to_read_back(tmp_path, monkeypatch):
    (tmp_path / "in").write_bytes(DATA)
    (tmp_path / "out").write_bytes(b"something else")
    with pytest.raises(KolmoError, match="kept"):
        files.remove_input(str(tmp_path / "in"), str(tmp_path / "out"), b"what was written")
    assert (tmp_path / "in").exists()


def test_test_touches_nothing(kolmo, tmp_path):
    (tmp_path / "a.klm").write_bytes(compress(DATA)[0])
    (tmp_path / "no.klm").write_bytes(b"no archive")
    assert kolmo("decompress", "-t", "a.klm").code == 0
    assert kolmo("compress", "--test", "a.klm").code == 0
    assert kolmo("decompress", "-t", "no.klm").code == 1
    assert kolmo("decompress", "-t", "--rm", "a.klm").code == 2
    assert kolmo("decompress", "-t", "no.klm", "a.klm").code == 1
    assert names() == ["a.klm", "no.klm"]


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
        (tmp_path / name).write_bytes(compress(DATA)[0])
    shown = kolmo("compress", "-l", "a.klm", "b.klm").out.decode().splitlines()
    assert len(shown) == 3
    assert f"2 archives: {2 * len(DATA)} bytes" in shown[2]
    assert kolmo("compress", "-lq", "a.klm", "b.klm").out == b""


def test_an_archive_is_not_read_from_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(UsageError, match="terminal"):
        files.read_archive("-")


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


@pytest.mark.parametrize("option", ["-9", "--samples=3", "--format=u8", "--time-budget=1s", "--compare", "--cache=c"])
@pytest.mark.parametrize("mode", ["-d", "-t", "-l"])
def test_what_only_packing_needs_is_refused_where_archives_are_read(kolmo, tmp_path, option, mode):
    (tmp_path / "a.klm").write_bytes(compress(DATA)[0])
    done = kolmo("compress", mode, option, "a.klm")
    assert done.code == 2
    assert f"means nothing with {mode}" in done.err
    assert names() == ["a.klm"]


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
        (["compress", "."], 1, "directory"),
        (["decompress", "a"], 2, "-o"),
        (["compress", "a", "--format", "u7"], 2, "i16le"),
        (["compress", "a", "--time-budget", "soon"], 2, "60s"),
        (["decompress", "a.klm", "--max-output", "many"], 2, "500M"),
        (["decompress", "a.klm", "-c", "--max-output", "10"], 1, "limit"),
        (["compress", "a", "-c", "-o", "b"], 2, "two outputs"),
        (["compress", "a", "-o", "/dev/full"], 1, "No space"),
        (["compress", "a", "-o", "no/such/folder"], 1, "No such file"),
        (["compress", "a.klm"], 2, "already"),
        (["compress", "a", "-c", "--rm"], 2, "--rm"),
        (["decompress", "-", "-o", "b", "--rm"], 2, "--rm"),
    ],
)
def test_what_goes_wrong_is_one_line(kolmo, tmp_path, arguments, code, words):
    (tmp_path / "a").write_bytes(DATA)
    (tmp_path / "a.klm").write_bytes(compress(DATA)[0])
    done = kolmo(*arguments)
    assert done.code == code
    assert words in done.err
    assert done.err.count("\n") == 1
    assert names() == ["a", "a.klm"]


def test_one_bad_file_does_not_stop_the_others(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    done = kolmo("compress", "-q", "missing", "a")
    assert done.code == 1
    assert names() == ["a", "a.klm"]


def test_times_and_permissions_go_along(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    os.chmod("a", 0o640)
    os.utime("a", (1_000_000_000, 1_000_000_000))
    kolmo("compress", "-q", "a")
    found = os.stat("a.klm")
    assert (found.st_mode & 0o777, int(found.st_mtime)) == (0o640, 1_000_000_000)


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(_handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupted)
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        files.write_output(str(tmp_path / "a"), b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


@pytest.mark.slow
def test_interrupts_at_any_moment_leave_whole_files(tmp_path):
    seed = 3
    import random

    rng = random.Random(seed)
    (tmp_path / "a").write_bytes(samples.sampled(30_000))
    for _ in range(12):
        command = [sys.executable, "-m", "kolmocli.cli.main", "compress", "-f", "-q", "a"]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=rng.uniform(0.2, 6))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
        assert process.returncode in (0, 130, -signal.SIGINT), f"seed {seed}"
        assert {p.name for p in tmp_path.iterdir()} <= {"a", "a.klm"}, f"seed {seed}"
        if (tmp_path / "a.klm").exists():
            assert subprocess.run([*command[:3], "decompress", "-t", "-q", "a.klm"], cwd=tmp_path).returncode == 0
