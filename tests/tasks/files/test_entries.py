"""What a line of data may be, in every layout in which such data are handed around, and what a bad one is called."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from kolmocli.errors import UsageError
from kolmocli.tasks.files.entries import Entry, read_entries
from kolmocli.tasks.files.lines import MAX_LINE
from kolmocli.tasks.files.problems import Problems


def read(tmp_path: Path, content: str | bytes, strict: bool = False) -> tuple[list[tuple[int, Entry]], list[str]]:
    file, warnings = tmp_path / "d.jsonl", list[str]()
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    problems = Problems(str(file), lambda text: warnings.append(text.replace(f"{tmp_path}/", "")), strict)
    return list(read_entries(str(file), problems)), warnings


def only(tmp_path: Path, content: str) -> Entry:
    found, warnings = read(tmp_path, content)
    assert warnings == []
    assert len(found) == 1
    return found[0][1]


def test_a_list_and_a_string_are_sequences(tmp_path: Path) -> None:
    found, warnings = read(tmp_path, '{"sequence": [1, -2, 300]}\n\n{"sequence": "hé"}\r\n')
    assert [(n, e.sequence) for n, e in found] == [(1, (1, -2, 300)), (3, (104, 233))]
    assert warnings == []


def test_what_else_a_line_says_is_kept(tmp_path: Path) -> None:
    line = '{"sequence": [1, 2], "program": "range_func_up(1, 2)", "bucket": "ramps/2", "modality": "synthetic"}'
    assert only(tmp_path, line) == Entry((1, 2), "range_func_up(1, 2)", None, "ramps/2", "synthetic")


def test_an_instruction_for_supervised_training(tmp_path: Path) -> None:
    """Prose after the list may speak of `output =`; only statements are the program."""
    text = (
        "### Instruction: Reproduce the following sequence: [7, 8]\nAssign it to output = the list.\n### Response:\n"
        "sequence_1 = range_func_up(7, 8) # [7, 8]\noutput = sequence_1 # [7, 8]\n"
    )
    found = only(tmp_path, json.dumps({"text": text}))
    assert found == Entry((7, 8), "sequence_1 = range_func_up(7, 8) # [7, 8]\noutput = sequence_1 # [7, 8]")


def test_an_instruction_without_an_answer(tmp_path: Path) -> None:
    assert only(tmp_path, '{"text": "Reproduce the following sequence: [7, 8] [/INST]"}') == Entry((7, 8))


def test_predictions_are_encoded_twice(tmp_path: Path) -> None:
    prompt = "Make it short.\n### Input Sequence:\n[3, 4, 5]\n### Expected Output:"
    line = json.dumps(json.dumps({"prompt": prompt, "generation": "output = [3, 4, 5]\n###", "num_output_tokens": 9}))
    assert only(tmp_path, line) == Entry((3, 4, 5), generation="output = [3, 4, 5]\n###")


def test_post_processed_predictions_have_no_reference(tmp_path: Path) -> None:
    line = '{"task_id": 1, "sequence_input": [3, 4], "program": "output = [3, 4]", "program_output": [3, 4]}'
    assert only(tmp_path, line) == Entry((3, 4), generation="output = [3, 4]", task_id="1")


GENERATOR = """\
program,sequence
"sequence_1 = range_func_up(1, 3) # [1, 2, 3]
output = sequence_1 # [1, 2, 3]","[1, 2, 3]"
"sequence_1 = repeat_num(2, 9) # [9, 9]
output = sequence_1 # [9, 9]","[9, 9]"
"""


def test_the_generators_csv(tmp_path: Path) -> None:
    found, warnings = read(tmp_path, GENERATOR)
    assert warnings == []
    assert [(n, e.sequence) for n, e in found] == [(2, (1, 2, 3)), (4, (9, 9))]
    assert found[0][1].program == "sequence_1 = range_func_up(1, 3) # [1, 2, 3]\noutput = sequence_1 # [1, 2, 3]"


def test_other_columns_of_a_csv_are_left_alone(tmp_path: Path) -> None:
    found, warnings = read(tmp_path, ',bucket,sequence\n0,a/1,"[5]"\n1,,"[6]"\n')
    assert warnings == []
    assert [e for _, e in found] == [Entry((5,), bucket="a/1"), Entry((6,))]


def test_a_quote_that_is_never_closed_costs_its_own_row(tmp_path: Path) -> None:
    broken = GENERATOR.replace('output = sequence_1 # [1, 2, 3]","[1, 2, 3]"', 'output","[1, 2, 3]')
    found, warnings = read(tmp_path, broken + '"range_func_up(1, 2)","[1, 2]"\n')
    assert [e.sequence for _, e in found] == [(9, 9), (1, 2)]
    assert [w.split(": skipped")[0] for w in warnings] == ["d.jsonl:2", "d.jsonl:3"]


def test_an_open_quote_does_not_take_the_whole_file_into_memory(tmp_path: Path) -> None:
    """A thousand lines that are as long as lines may be would be gigabytes."""
    file = tmp_path / "d.csv"
    file.write_text('program,sequence\n"p\n' + ("x" * (1 << 20) + "\n") * 60)
    tracemalloc.start()
    assert list(read_entries(str(file), Problems(str(file), lambda text: None))) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * MAX_LINE


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("only one", "1 fields; the header names 2"),
        ("p,[1, 2],3", "4 fields; the header names 2"),
        ('"p"x,"[1]"', "',' expected after '\"'"),
        ('p,"__import__(1)"', "Expecting value"),
        ("p,7", "`sequence` must be a list"),
    ],
)
def test_a_bad_row(tmp_path: Path, row: str, said: str) -> None:
    found, warnings = read(tmp_path, f'program,sequence\n{row}\n"","[4]"\n')
    assert [e for _, e in found] == [Entry((4,))]
    assert warnings[0].startswith("d.jsonl:2: skipped: ")
    assert said in warnings[0]


BAD = {
    "not json": "broken JSON: Expecting value at character 1",
    '{\0"\0': "is it UTF-16?",
    "[1, 2]": "not an object",
    '"\\"x"': "Unterminated string",
    "7": "not an object",
    "{}": "no `sequence`",
    '{"sequence": []}': "`sequence` must be a list of integers",
    '{"sequence": [1, 2.5]}': "a list of integers; item 2 is 2.5",
    '{"sequence": [1, NaN]}': "a list of integers; item 2 is NaN",
    '{"sequence": [Infinity]}': "a list of integers; item 1 is Infinity",
    '{"sequence": [true]}': "a list of integers; item 1 is true",
    '{"sequence": [[1]]}': "`sequence` must be a list of integers",
    '{"sequence": "__import__(\'os\')", "bucket": 3.5}': "`bucket` must be a string",
    '{"sequence": ""}': "`sequence` must be a list of integers",
    '{"sequence": [1], "program": 3}': "`program` must be a string",
    '{"sequence": [' + "1" * 5000 + "]}": "4300 digits",
    '{"text": "nothing in it"}': 'text without "following sequence:"',
    '{"text": "following sequence: [1, 2, ...]"}': 'text without "following sequence:"',
    '{"text": "following sequence: [1, , 2]"}': "Expecting value",
    '{"prompt": [], "generation": ""}': "`prompt` must be a string",
    "[" * 100_000: "nested too deeply",
    '{"sequence": "\udcff"}': "not UTF-8",
}


@pytest.mark.parametrize(("line", "said"), BAD.items(), ids=range(len(BAD)))
def test_a_bad_line_is_named_and_skipped(tmp_path: Path, line: str, said: str) -> None:
    content = f'{{"sequence": [1]}}\n\n{line}\n{{"sequence": [2]}}'.encode("utf-8", "surrogateescape")
    found, warnings = read(tmp_path, content)
    assert [e.sequence for _, e in found] == [(1,), (2,)]
    assert len(warnings) == 1
    assert warnings[0].startswith("d.jsonl:3: skipped: ")
    assert said in warnings[0]
    assert "set_int_max" not in warnings[0]
    with pytest.raises(UsageError, match=r"d\.jsonl:3: "):
        read(tmp_path, content, strict=True)


def test_a_line_of_ten_million_items_is_skipped_without_being_read_whole(tmp_path: Path) -> None:
    line = b'{"sequence": [' + b"1," * 10_000_000 + b"1]}"
    found, warnings = read(tmp_path, line + b'\n{"sequence": [2]}\n' + line)
    assert [(n, e.sequence) for n, e in found] == [(2, (2,))]
    assert warnings == ["d.jsonl:1: skipped: longer than 8 MiB", "d.jsonl:3: skipped: longer than 8 MiB"]


def test_many_bad_lines_are_counted_but_not_all_named(tmp_path: Path) -> None:
    problems = Problems("f", (warnings := list[str]()).append)
    for number in range(50):
        problems.bad(number, "x")
    problems.close("7")
    assert len(warnings) == 4
    assert warnings[-1] == "f: 50 bad line(s) skipped, 7 kept"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_encodings_are_refused_with_the_mend(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(UsageError, match=rf"d\.jsonl: {encoding.upper()}, not UTF-8; convert it first: iconv"):
        read(tmp_path, '{"sequence": [1]}'.encode(encoding))


def test_a_mark_of_utf_8_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    found, warnings = read(tmp_path, '{"sequence": [1]}'.encode("utf-8-sig"))
    assert ([e.sequence for _, e in found], warnings) == ([(1,)], [])


def test_a_gzip_file_is_read_like_any_other(tmp_path: Path) -> None:
    found, _ = read(tmp_path, gzip.compress(b'{"sequence": [1]}\n{"sequence": [2]}\n'))
    assert [e.sequence for _, e in found] == [(1,), (2,)]


def test_a_cut_gzip_file_is_named(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"sequence": [%d]}\n' % (i * i) for i in range(1000)))
    with pytest.raises(UsageError, match=r"d\.jsonl: a damaged or cut gzip file"):
        read(tmp_path, whole[: len(whole) // 2])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: cannot be read: No such file"):
        list(read_entries(f"{tmp_path}/none.jsonl", Problems("none.jsonl", print)))
