"""Odd text through every command that prints: names, prompts, programs, numbers, nesting.

Whatever a file, a name or an argument holds, a command ends with a documented exit code, says what is wrong in words, and
writes nothing that a terminal obeys. `KOLMO_ODD_TRIES=10000 python -m pytest tests/test_odd_text.py` looks for longer, and
`KOLMO_ODD_SEED` elsewhere: try number 17 of seed 5 is always the same.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kolmocli.cli.main import main

TRIES = int(os.environ.get("KOLMO_ODD_TRIES", "120"))
SEED = int(os.environ.get("KOLMO_ODD_SEED", "0"))
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal acts upon, or what is no character; line ends are a command's own."""
PIECES = (
    "\x1b[31m", "\x1b]0;title\x07", "\x9b1m", "\x00", "\r", "\n", "\t", "\x7f", "\u202e", "\u2066", "\u200f", "\ud800", "\udcff",
    "é", "e\u0301\u0301", "日本", "\U0001f468\u200d\U0001f469", "\ufeff", "\u2028", "$x^$", r"$\frac{$", "[red]", "[/]", "[link=x]",
    "<script>alert(1)</script>", "<img src=x onerror=y>", "'", '"', "`", "\\", "%s", "%n", "{}", "{0.x}", "../", "/etc/passwd",
    "~root", "-rf", "--", "=", ":", "#", "&a", "*a", "!!python/object:os.system", "null", "nan", "1e999", "-0", "0x", "٣", "²",
    "9" * 400, "x" * 300, "ramps", "primes/1", "level 3", " ", "",
)  # fmt: skip
Odd = random.Random


def text(odd: Odd) -> str:
    return "".join(odd.choice(PIECES) for _ in range(odd.choice((0, 1, 1, 2, 3))))


def argument(odd: Odd) -> str:
    """Text as a shell can hand it over: bytes without a zero, which need not be UTF-8."""
    given = text(odd).encode("utf-8", "surrogatepass").replace(b"\0", b"")
    return os.fsdecode(given + odd.choice((b"", b"\xff")))


def name(odd: Odd) -> str:
    """The same as the name of a file."""
    return argument(odd).replace("/", "|")[:60].strip(".") or "a"


def number(odd: Odd) -> Any:
    return odd.choice(
        (0, -1, 3, 10**18, -(10**400), 10**400, 0.5, 1e308, 1e-320, float("nan"), float("inf"), True, None, "7")
    )


def nested(odd: Odd, depth: int = 0) -> Any:
    kind = odd.randrange(6 if depth < 3 else 3)
    if kind < 2:
        return text(odd)
    if kind == 2:
        return number(odd)
    if kind == 3:
        return [nested(odd, depth + 1) for _ in range(odd.randrange(4))]
    return {text(odd): nested(odd, depth + 1) for _ in range(odd.randrange(4))}


def encoded(odd: Odd, value: Any) -> bytes:
    """As JSON, now and then cut, too deep for any reader, or no text at all."""
    data = json.dumps(value, ensure_ascii=odd.random() < 0.7).encode("utf-8", "surrogatepass")
    match odd.randrange(12):
        case 0:
            return data[: odd.randrange(len(data) + 1)]
        case 1:
            return b'{"a":' * 20_000 + data + b"}" * 20_000
        case 2:
            return bytes(odd.randrange(256) for _ in range(40))
    return data


def changed(odd: Odd, value: dict[str, Any], keys: int = 2) -> dict[str, Any]:
    """The same with some of its values odd, here or further in."""
    found = dict(value)
    for key in odd.sample(sorted(found), min(keys, len(found))):
        inner = found[key]
        found[key] = changed(odd, inner, 1) if isinstance(inner, dict) and inner and odd.random() < 0.7 else nested(odd)
    return found


# -- inputs ------------------------------------------------------------------------------------------------------------------

CURRICULUM: dict[str, Any] = {
    "name": "small", "description": "x", "seed": 1, "model": {"name": "tiny", "device": "cpu", "precision": "fp32"},
    "families": {"sums": {"task": "sum_digits", "levels": [{"digits": [2, 3]}, {"digits": [3, 4]}]}}, "reward": {"kind": "binary"},
    "controller": {"kind": "integral", "target": 0.5}, "training": {"steps": 3, "batch_size": 8, "group_size": 4, "temperature": 1.0},
    "evaluation": {"tasks": 4}, "sandbox": {"backend": "embedded"}, "data": {"train": None},
}  # fmt: skip
BUCKET: dict[str, Any] = {
    "level": 4.3, "top": 8, "pass_rate": 0.5, "ci": [0.3, 0.6], "signal": 0.2, "weight": 0.1, "n": 8, "dead": 0.1, "state": "tracking",
}  # fmt: skip
STEP: dict[str, Any] = {
    "phase": "rl", "step": 3, "loss": 0.1, "pass_rate": 0.5, "reward": 0.4, "rollouts": 16, "groups": 4, "bits_total": 9.0,
    "entropy": 1.2, "buckets": {"ramps": BUCKET}, "seconds": {"rollout": 1.0, "execute": 0.5, "learn": 0.2},
    "generators": {"0": {"tokens_per_second": 5.0, "idle": 0.1, "lag": 1}}, "infra": 0, "dead_groups": 1,
}  # fmt: skip
EVENTS: tuple[dict[str, Any], ...] = (
    {"kind": "start", "step": 0, "time": 1.0, "model": "tiny", "sandbox": "embedded", "engine": "local"},
    {"kind": "eval", "step": 1, "name": "before", "accuracy": 0.2, "accuracy_ci": [0.1, 0.3], "n": 8},
    {"kind": "best", "step": 2, "family": "ramps", "bits": 31, "literal_bits": 200, "target": "0 1 2", "program": "a = 1\nb = a"},
    {"kind": "failing", "step": 2, "family": "ramps", "level": 2, "verdict": "missed", "target": "7 8", "made": "7 9", "program": "c = 2"},
    {"kind": "note", "step": 3, "text": "a note"}, {"kind": "checkpoint", "step": 3, "path": "checkpoints/step_000003"},
)  # fmt: skip
SUMMARY: dict[str, Any] = {
    "steps": 3,
    "seconds": {"total": 9.0},
    "pass_rate": {"mean": 0.5, "target": 0.5},
    "eval": {"before": None},
}
ROWS: tuple[dict[str, Any], ...] = (
    {
        "sequence": [1, 2, 3, 4],
        "generation": "output = [1, 2, 3, 4]",
        "bucket": "ramps/1",
        "modality": "bytes",
        "task_id": "a",
    },
    {"question": "one and one?", "answer": "2", "family": "sums", "level": 2, "task_id": "b"},
    {"prompt": "def f(x):\n", "test": "def check(f):\n    assert f(1) == 1\n", "entry_point": "f", "task_id": "c"},
    {"text": "double it", "test_list": ["assert f(1) == 2"], "task_id": 5, "level": "hard"},
    {"question": "print it", "inputs": ["1\n"], "outputs": ["1\n"]},
)


def run_folder(odd: Odd, folder: Path) -> str:
    where = folder / name(odd)
    where.mkdir()
    steps = [{**STEP, "step": i} for i in range(1, 4)]
    steps = [changed(odd, step) if odd.random() < 0.5 else step for step in steps]
    events = [changed(odd, event) if odd.random() < 0.5 else event for event in EVENTS]
    odd_one = odd.randrange(5)
    for place, (file, lines) in enumerate((("metrics.jsonl", steps), ("events.jsonl", events))):
        (where / file).write_bytes(
            b"".join((encoded(odd, x) if place == odd_one else json.dumps(x).encode()) + b"\n" for x in lines)
        )
    summary = changed(odd, SUMMARY) if odd.random() < 0.5 else SUMMARY
    (where / "summary.json").write_bytes(encoded(odd, summary) if odd_one == 2 else json.dumps(summary).encode())
    config = json.dumps(changed(odd, CURRICULUM)).encode()  # YAML too
    (where / "config.yaml").write_bytes(encoded(odd, CURRICULUM) if odd_one == 3 else config)
    return str(where)


def data_file(odd: Odd, folder: Path) -> str:
    rows = [
        changed(odd, odd.choice(ROWS)) if odd.random() < 0.6 else odd.choice(ROWS) for _ in range(odd.randrange(1, 6))
    ]
    where = folder / (name(odd) + odd.choice((".jsonl", ".json", ".csv", "")))
    if where.is_dir():
        where = folder / "rows.jsonl"
    match odd.randrange(4):
        case 0:
            where.write_bytes(encoded(odd, rows))
        case 1:
            cells = [[text(odd) for _ in range(3)] for _ in range(3)]
            lines = ["question,answer,family", *(",".join(row) for row in cells)]
            where.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        case _:
            where.write_bytes(b"\n".join(encoded(odd, row) for row in rows))
    return str(where)


def curriculum_file(odd: Odd, folder: Path) -> str:
    where = folder / f"{name(odd)}.yaml"
    given = changed(odd, CURRICULUM)
    if odd.random() < 0.4:
        given["families"] = {text(odd): CURRICULUM["families"]["sums"]}
    where.write_bytes(encoded(odd, given))
    return str(where)


def plain_file(odd: Odd, folder: Path) -> str:
    where = folder / name(odd)
    if where.is_dir():
        where = folder / "plain"
    where.write_bytes(odd.choice((b"", bytes(range(64)) * 3, b"1 2 3 4\n" * 20, encoded(odd, nested(odd)))))
    return str(where)


def program_file(odd: Odd, folder: Path) -> str:
    where = Path(plain_file(odd, folder))
    source = odd.choice(
        ("output = 1", f"output = {text(odd)!r}", f"raise ValueError({text(odd)!r})", text(odd), "(" * 5000)
    )
    where.write_bytes(source.encode("utf-8", "surrogatepass"))
    return str(where)


def archive_of(odd: Odd, folder: Path) -> str:
    where = plain_file(odd, folder)
    main(["compress", "-q", "-k", "-f", "-o", str(folder / "a.klm"), "--", where])
    packed = folder / "a.klm"
    if packed.exists() and odd.random() < 0.5:
        data = bytearray(packed.read_bytes())
        data[odd.randrange(len(data))] ^= 1 << odd.randrange(8)
        packed.write_bytes(bytes(data))
    return str(packed)


# -- commands ----------------------------------------------------------------------------------------------------------------

Make = Callable[[Odd, Path], list[str]]
COMMANDS: dict[str, tuple[int, Make]] = {  # with how often, of about 100
    "words": (8, lambda odd, folder: [odd.choice(("", "train", "eval", "data", "report", "model")), argument(odd), argument(odd)]),
    "validate": (12, lambda odd, folder: ["curriculum", "validate", *_json(odd), curriculum_file(odd, folder)]),
    "curriculum": (6, lambda odd, folder: ["curriculum", "show", *_json(odd), curriculum_file(odd, folder)]),
    "set": (6, lambda odd, folder: ["train", "--dry-run", "--set", f"{odd.choice(SETTINGS)}={argument(odd)}", "--set", argument(odd)]),
    "watch": (20, lambda odd, folder: ["watch", "--once", run_folder(odd, folder)]),
    "report": (1, lambda odd, folder: ["report", run_folder(odd, folder)]),
    "show": (14, lambda odd, folder: ["data", "show", *_json(odd), data_file(odd, folder)]),
    "slice": (4, lambda odd, folder: ["data", "slice", "-o", str(folder / name(odd)), plain_file(odd, folder)]),
    "solve": (4, lambda odd, folder: ["solve", *odd.choice((["--json"], [])), "--", argument(odd), str(number(odd))]),
    "solve data": (4, lambda odd, folder: ["solve", "--seconds", "0.2", "--data", data_file(odd, folder)]),
    "programs": (2, lambda odd, folder: ["sandbox", "run", "--sandbox", "embedded", *_json(odd), program_file(odd, folder)]),
    "predictions": (3, lambda odd, folder: ["eval", "--sandbox", "embedded", *_json(odd), "--predictions", data_file(odd, folder)]),
    "compress": (8, lambda odd, folder: ["compress", "-k", "-f", "-v", *_json(odd), "--", plain_file(odd, folder)]),
    "list": (3, lambda odd, folder: ["compress", "-l", *_json(odd), archive_of(odd, folder)]),
    "decompress": (4, lambda odd, folder: ["decompress", "-k", "-f", "-o", str(folder / "out"), archive_of(odd, folder)]),
    "worker": (3, lambda odd, folder: ["worker", "--listen", "tcp://" + argument(odd) + "\x1b:1"]),
    "model": (3, lambda odd, folder: ["model", odd.choice(("show", "import")), "--", "no" + argument(odd)]),
    "plugin": (2, lambda odd, folder: ["curriculum", "validate", "--plugin", "no" + argument(odd), "quickstart"]),
}  # fmt: skip
SETTINGS = (
    "name",
    "seed",
    "model.name",
    "training.steps",
    "families",
    "controller.target",
    "reward.kind",
    "training.temperature",
)


def _json(odd: Odd) -> list[str]:
    return ["--json"] if odd.random() < 0.5 else []


def arguments(seed: int, attempt: int, folder: Path) -> list[str]:
    """The command of one try; its files are made in the folder."""
    odd = random.Random(f"{seed}/{attempt}")
    kinds = list(COMMANDS)
    kind = odd.choices(kinds, [COMMANDS[each][0] for each in kinds])[0]
    return COMMANDS[kind][1](odd, folder)


@pytest.fixture
def signals() -> Iterator[None]:
    """A command sets handlers that are of its process."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
def test_no_text_crashes_a_command_or_reaches_a_terminal_raw(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with capfd.disabled():
        print(f"\n{TRIES} tries of seed {SEED}")
    fallen = []
    for attempt in range(TRIES):
        folder = tmp_path / "try"
        folder.mkdir()
        monkeypatch.chdir(folder)
        given = arguments(SEED, attempt, folder)
        capfd.readouterr()
        try:
            code: object = main(given)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            code = repr(error)[:300]
        out, err = capfd.readouterr()
        wrong = [f"ended with {code}"] if code not in (0, 1, 2, 3, 4) else []
        wrong += [
            f"{place} holds {found[0]!a}"
            for place, said in (("stdout", out), ("stderr", err))
            if (found := OBEYED.search(said))
        ]
        wrong += ["it failed without a word"] if code not in (0, 3) and not (out + err).strip() else []
        wrong += ["a traceback"] if "Traceback (most" in out + err else []
        if wrong:
            fallen.append(f"try {attempt} of seed {SEED}: {given!a:.300}: {'; '.join(wrong)}")
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(folder)
    assert not fallen, "\n".join(fallen)


def test_a_try_is_always_the_same(tmp_path: Path) -> None:
    made = []
    for _ in range(2):
        folder = tmp_path / "try"
        folder.mkdir()
        found = [
            arguments(3, attempt, folder / str(attempt)) for attempt in range(20) if not (folder / str(attempt)).mkdir()
        ]
        made.append((found, {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}))
        shutil.rmtree(folder)
    assert made[0] == made[1]
