"""Finding the program in what a model answered."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from kolmocli.language.answers import program_in_place, program_of, without_comments
from tests.linear import assert_it_ends

PYTHON = "x = 3\noutput = [x] * 4\n"
LANGUAGE = "sequence_1 = range_func_up(1, 3)\nsequence_2 = repeat_list(2, sequence_1)\n"
"""Without `output`: nothing but its place tells a program of the language from anything else."""

SHAPES = {
    "bare": "{}",
    "an end": "{}###",
    "an end, and more": "{}### That is all.\nx = 7",
    "an end behind the last line": "{:cut} ###\nThat is all.",
    "a special token": "\n\n{}<|end_of_text|>output = 0",
    "another special token": "{}</s>",
    "blanks at the end": "{:cut}   ",
    "windows": "{:windows}",
    "a fence": "```\n{}```",
    "a fence with a name": "```python\n{}```",
    "a fence with a name and more": "```Python title=it.py\n{}```",
    "another fence": "Sure.\n~~~py\n{}~~~\n###",
    "a longer fence": "````python\n{}````",
    "an indented fence": "1. It repeats.\n   ```python\n{:indented}   ```",
    "prose around a fence": "Here it is:\n```python\n{}```\nIt repeats x.",
    "prose around a fence without a name": "\n\nIt counts:\n```\n{}```\nThis repeats it.",
    "a cut off fence": "```python\n{}",
    "prose before a cut off fence": "It counts:\n```python\n{}",
    "prose before a cut off fence without a name": "It counts:\n```\n{}",
    "an end in a fence": "```python\n{}###\n```",
    "an end in a fence without a name": "```\n{}### \n```",
    "a second thought": "A first try:\n```python\nx = 3\n```\nBetter:\n```python\n{}```",
    "how to run it": "```python\n{}```\nRun it with:\n```sh\npython it.py\n```",
    "what it prints": "```python\n{}```\nIt makes:\n```\n3, 3, 3, 3\n```",
    "a fence opened again": "```python\n{}```python\n",
    "a fence that only ends": "{}```\nmore",
    "an end and a fence that only ends": "{}###\n```",
    "an end, and somebody else's fence": "{}###\n\n### Input Sequence:\n[5]\n```\nmore\n```",
    "a heading": "### Expected Output:\n{}",
    "headings": "### Thought: all are equal\nso I assign a list to the result\n### Program:\n{}###",
    "headings and a fence": "### Thought: all are equal\n`x` is repeated, `output = x`\n### Program:\n```python\n{}```\n###",
    "a fence under a heading": "### Expected Output:\nThis is a program that makes it:\n```python\n{}###\n```",
    "a lead-in": "This is a program that makes it:\n{}###",
    "a lead-in under a heading": "### Expected Output:\nThis is a program that makes it:\n\n{}###",
    "a lead-in of several lines": "Sure!\n\nLet's see. It is one number:\n- It's repeated, as in [3, 3].\n\n**Program:**\n{}",
    "a lead-in that begins like a statement": "for this sequence I would write:\n{}",
    "a lead-in with the name": "Here is how I make `output = [3]` longer:\n{}",
    "a lead-in in another language": "Das ist ein Programm dafür:\n{}",
}


class Program(str):
    """Written into a shape as it is, `cut` before its last line break, or with other line breaks or an indent."""

    def __format__(self, how: str) -> str:
        if how == "indented":
            return "".join(f"   {line}\n" for line in self.splitlines())
        return {"": str(self), "cut": self.rstrip(), "windows": self.replace("\n", "\r\n")}[how]


@pytest.mark.parametrize("program", [PYTHON, LANGUAGE], ids=["python", "language"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_program_is_found(shape: str, program: str) -> None:
    answer = shape.format(Program(program))
    assert program_of(answer).rstrip() == program.rstrip()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_line_of_the_program_is_the_same_line_of_the_answer(shape: str) -> None:
    answer = shape.format(Program(LANGUAGE)).split("\n")
    placed = program_in_place("\n".join(answer)).split("\n")
    assert [line.strip() for line in placed if line.strip()] == LANGUAGE.splitlines()
    assert all(line.strip() in ("", answer[number].strip(" #\r")) for number, line in enumerate(placed))


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        (LANGUAGE, 3),  # the third is where it ended
        (LANGUAGE.rstrip(), 2),
        (f"{LANGUAGE}###\nmore", 3),
        (f"```\n{LANGUAGE}```\nmore", 3),  # the first is the fence
        ("\n\n", 3),
    ],
)
def test_the_line_of_the_end_is_kept(answer: str, lines: int) -> None:
    assert len(program_in_place(answer).split("\n")) == lines


@pytest.mark.parametrize(
    "program",
    [
        'a = "python ### x"\noutput = list(map(ord, a))  # ### no end',
        "f'{1}'\noutput = [1]",
        '"""It says what it does:\nand how it does it.\n"""\noutput = [1]',
        "# It says what it does:\noutput = [1]",
        "if 3 in [3] and not 4 is 5: output = [1]",
        "for x in range(3):\n    output = [x]",
        "from itertools import chain as c\noutput = [*c([1])]",
        "x = 1 if 2 else 3; output = [x]",
        "output = [x for x in b'two words']",
        "a, *b = 1, 2\noutput = b",
        "match 3:\n    case x: output = [x]",
        "type X = int\noutput = [X(3)]",
        "d = {1:\n2}\noutput = [*d]",
        "assert print('two words') is None\noutput = [1]",
    ],
)
def test_nothing_of_a_program_is_taken_for_prose_or_its_end(program: str) -> None:
    assert program_of(program) == program
    assert program_of(f"Here's one:\n{program}\n###") == program
    assert program_of(f"```python\n{program}\n```") == program


def test_other_marks_in_a_fence_are_not_its_end() -> None:
    program = 's = """\n~~~\n"""\noutput = [*map(ord, s)]'
    assert program_of(f"```python\n{program}\n```") == program


@pytest.mark.parametrize(
    "answer",
    [
        "{}###\noutput = [0]",
        "x = [0]\n###\n{}",
        "```python\noutput = [0]\n```\nBetter:\n```\n{}```\n```python\nprint(output)\n```",
        "{}###\n```python\noutput = [0]\n```",
        "x = [0]\n###\n```\n{}```",
    ],
)
def test_what_assigns_output_is_preferred(answer: str) -> None:
    assert program_of(answer.format(PYTHON)) == PYTHON.rstrip()


@pytest.mark.parametrize("answer", ["", "\n", "###", "```\n```", "<|eot_id|>", "###\n###", "```python\n###\n```"])
def test_no_program_is_an_empty_one(answer: str) -> None:
    assert program_of(answer) == ""


def test_nothing_but_prose_is_no_program_and_is_not_an_empty_one() -> None:
    assert program_of("I do not know.\nWhat is asked for?") == "I do not know.\nWhat is asked for?"


FRAGMENTS = ["x = f(1)", "output = x", "```", "```py", "~~~", "###", "The program is:", "", " ", "</s>", "\r", "`", "é"]


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=12))
def test_any_answer_is_read_line_by_line(fragments: list[str]) -> None:
    answer = "\n".join(fragments)
    placed = program_in_place(answer)
    assert placed.strip("\n") == program_of(answer)
    assert len(placed.split("\n")) <= len(answer.split("\n"))


HOSTILE = {
    "backticks": ("`", ""),
    "fences": ("```\n", ""),
    "named fences": ("```python\n", ""),
    "a long name": ("a", "```"),
    "tildes and backticks": ("```\n~~~~\n", ""),
    "fences on one line": ("``` ", ""),
    "ends": ("###", ""),
    "lines of ends": ("###\n", ""),
    "ends of lines": ("x ###\n", ""),
    "output": ("output =", ""),
    "output that is compared": ("output ==", ""),
    "output and blanks": (" ", "output"),
    "lines of output": ("output = ", "```\n"),
    "prose": ("two words:\n", ""),
    "one line of prose": ("in words ", "a"),
    "a word": ("a", ""),
    "keywords": ("in ", ""),
    "colons": (":*", "a"),
    "quotes": ("A's", ""),
    "blanks": (" ", ""),
    "line breaks": ("\n", ""),
    "special tokens": ("<|a", ""),
    "a long special token": ("a", "<|"),
}


def test_a_hostile_answer_takes_no_longer_than_it_is_long() -> None:
    """A mebibyte of characters, or a quarter of one of lines."""
    before = "from kolmocli.language.answers import program_of\n"
    read = "size = 2**18 if '\\n' in unit else 2**20\nprogram_of(start + unit * (size // len(unit)) + '!')\n"
    assert_it_ends(before, read, HOSTILE, 120)


def test_it_is_read_without_the_heavy_libraries() -> None:
    script = "import sys, kolmocli.language.answers; assert not {'torch', 'numpy', 'docker'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_comments_of_the_published_generator_go() -> None:
    assert without_comments("sequence_1 = repeat_num(2, 9) # [9, 9]\noutput = sequence_1 # [9, 9]") == (
        "sequence_1 = repeat_num(2, 9)\noutput = sequence_1"
    )


TWICE = "def twice(n):\n    return 2 * n"
HALF = "def half(n):\n    return n / 2"
PYTHON_SHAPES = {
    "how it is used": "```python\n{}\n```\nUsage:\n```python\nprint(twice(3))\n```",
    "how it is used, and tests": "```python\n{}\n```\n```python\nassert twice(1) == 3\n```\n```\noutput = 6\n```",
    "a first try": f"```python\n{TWICE.replace('2', '3')}\n```\nWrong. Better:\n```python\n{{}}\n```",
    "another language": "```python\n{}\n```\nIn Java:\n```java\nclass twice {{}}\n```",
    "code on the line of the fence": "```{}\n```",
    "an end on the line of the code": "```{}```",
    "all on one line of a fence": "```python def twice(n): return 2 * n```",
    "a thought": "<think>\nMaybe\n```python\ndef twice(n):\n    return 3 * n\n```\n</think>\n{}",
    "a thought that the template began": "Double it, I think.\n</think>\n\n{}",
    "tags": "<think>x</think>\n<answer>\n{}\n</answer>",
    "tags of Code Llama": "[PYTHON]\n{}\n[/PYTHON]\nIt doubles.",
    "tags and a fence": "<answer>\n```python\n{}\n```\n</answer>",
    "prose below": "{}\n\nThis function doubles its argument.",
    "a heading below": "{}\n\n### Explanation\nIt doubles its argument.",
    "a heading above": "### Solution\n\n```python\n{}\n```",
    "a lone end": "{}\n```",
    "a lone end, and prose": "{}\n```\nIt doubles.",
    "a mark of Windows": "\ufeff{}",
    "a mark of Windows in a fence": "```python\n\ufeff{}\n```",
    "a beginning": "<|im_start|>assistant\n{}<|im_end|>",
    "DeepSeek": "{}<\uff5cend\u2581of\u2581sentence\uff5c>",
    "Gemma": "{}<end_of_turn>\n<start_of_turn>user\nmore",
    "Llama 3": "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
    "Mistral": "{}</s>[INST] more",
    "gpt-oss": "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>",
    "Phi": "{}<|end|>\n<|user|>",
    "StarCoder": "{}<file_sep>def twice(n): pass",
    "tools of DeepSeek": "{}<\uff5ctool\u2581calls\u2581begin\uff5c>",
    "a reserved token": "{}\n<|reserved_special_token_0|>",
    "MBPP's own prompt": "[BEGIN]\n{}\n[DONE]\nYou are an expert",
    "a document": "````markdown\n# Twice\n```python\n{}\n```\n````",
    "a short form above": "Sure! Here's the function:\n\n{}",
    "the next turn": "{}\n\nUser: thanks\nAssistant: you are welcome",
    "a note": "{}\n\nNote: integers only.",
    "a line that is drawn": "{}\n\n---\nIt doubles.",
}


@pytest.mark.parametrize("shape", PYTHON_SHAPES.values(), ids=PYTHON_SHAPES)
def test_the_block_that_defines_what_is_asked(shape: str) -> None:
    space: dict[str, object] = {}
    exec(program_of(shape.format(TWICE), ("twice",)), space)
    assert space["twice"](21) == 42  # type: ignore[operator]


@pytest.mark.parametrize(
    "program",
    [
        f"import math\n####################\n# halves\n####################\n{HALF}\n\n### twice\n{TWICE}",
        'def twice(n):\n    """Twice.\n\n    ```\n    twice(2)\n    ```\n    """\n    return 2 * n',
        'def twice(n):\n    """Twice.\n\n    ```python\n    twice(2)\n    ```\n    """\n    return 2 * n',
        'def twice(n):\n    mark = "</s>"\n    return 2 * n',
        "def twice(n):\n    mark = '<|sep|>' + \"<|im_end|>\"\n    return 2 * n",
        'def twice(n):\n    """It ends at </s> or\n    <|im_end|>.\n    """\n    return 2 * n',
        "def twice(n):\n    s = '</think>'\n    return 2 * n",
        f"import math\n\n{HALF}\n\n{TWICE}\n\nif __name__ == '__main__':\n    print(twice(3))",
        "twice = lambda n: 2 * n",
        "from operator import mul\nfrom functools import partial\ntwice = partial(mul, 2)",
        "class Helper:\n    def twice(self, n):\n        return 2 * n\n\ntwice = Helper().twice",
        "def twice(n):\n    # see ```this``` too\n    return 2 * n",
    ],
)
def test_nothing_of_a_program_in_python_is_taken_for_its_end(program: str) -> None:
    fenced = f"Here:\n```python\n{program}\n```\nDone."
    for answer in (program, fenced, f"{program}<|eot_id|>"):
        assert program_of(answer, ("twice",)).rstrip() == program


@pytest.mark.parametrize(
    "answer",
    ["<think>\n```python\n" + TWICE + "\n```\nstill", f"<think>{TWICE}", f"<thinking>\n{TWICE}\n"],
)
def test_a_thought_that_goes_on_holds_no_program(answer: str) -> None:
    assert program_of(answer, ("twice",)).strip() == ""
    assert program_of(answer).strip() == ""


@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_a_program_that_stands_further_in_comes_out(indent: str) -> None:
    shifted = "\n".join(indent + line for line in TWICE.split("\n"))
    for answer in (shifted, f"The code:\n\n{shifted}\n"):
        assert program_of(answer, ("twice",)) == TWICE
    body = "    def helper():\n        return 2\n    return helper() * n"
    assert program_of(body, ("twice",)) == body


def test_a_script_is_the_block_that_reads() -> None:
    script = "n = int(input())\nprint(2 * n)"
    for answer in (
        script, f"```python\n{script}\n```\nFor 3 this prints:\n```\n6\n```", f"{script}\n```\n6\n```",
        f"```python\n{script}\n```\nTry it:\n```python\nprint(2 * 3)\n```", f"{script}\n\nIt prints twice the number.",
        f"First read it:\n```\n3\n```\n```python\n{script}\n```",
    ):  # fmt: skip
        assert program_of(answer, ()) == script


def test_the_rest_of_a_function_is_an_answer_too() -> None:
    """As a base model goes on from a prompt that stood in a fence."""
    for answer in ("    return 2 * n\n```\n\nExample:\n```python\nprint(twice(2))\n```", "    return 2 * n\n```\n"):
        assert program_of(answer, ("twice",)) == "    return 2 * n"


@given(
    st.lists(
        st.sampled_from([*FRAGMENTS, '"""', "def f(x):", "<think>", "</think>"]) | st.text(max_size=5), max_size=12
    )
)
def test_any_answer_in_python_is_read_line_by_line(fragments: list[str]) -> None:
    answer = "\n".join(fragments)
    placed = program_in_place(answer, ("f",))
    assert placed.strip("\n") == program_of(answer, ("f",))
    assert len(placed.split("\n")) <= len(answer.split("\n"))


def test_a_hostile_answer_in_python_takes_no_longer_than_it_is_long() -> None:
    more = {
        "triple quotes": ('"""', ""), "lines of triple quotes": ('"""\n', ""), "fences in quotes": ('"""\n```\n', ""),
        "begins": ("<s>", ""), "thoughts": ("<think>", ""), "ends of thoughts": ("</think>", ""),
        "quoted ends of thoughts": ('"</think>', ""), "quoted tokens": ("'</s>'", ""), "tokens in quotes": ("</s>", "'"),
        "definitions": ("def f", ""), "lines of definitions": ("def f(x):\n", ""), "headings": ("### a b\n", "def f(x): 1\n"),
        "banners": ("####\n", "def f(x): 1\n"), "code on fences": ("```x = 1\n", ""), "tags": ("<answer>", ""),
    }  # fmt: skip
    before = "from kolmocli.language.answers import program_of\n"
    read = "size = 2**18 if '\\n' in unit else 2**20\nprogram_of(start + unit * (size // len(unit)) + '!', ('f',))\n"
    assert_it_ends(before, read, {**HOSTILE, **more}, 120)
