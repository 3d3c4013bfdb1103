"""Tests that keep objects of a program: the objects stay in it, and what the tests do with them is asked there."""

from __future__ import annotations

import ast

import pytest

from kolmocli.sandbox import Sandbox, Status
from kolmocli.tasks.chat import judged_text, messages
from kolmocli.tasks.code import asserts
from kolmocli.tasks.code.frameworks import plain_tests
from kolmocli.tasks.code.objects import without_objects
from kolmocli.tasks.code.shapes import human_eval, mbpp
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from tests.tasks.code.kept import ANYTHING, KEPT, Kept

TERMS = Terms(Relative(0.25))
COUNTED = "def check(made):\n    c = made()\n    c.add('a')\n    c.add('a')\n    assert c.of('a') == 2\n    assert c.of('b') == 0\n"
BODY = (
    "    def __init__(self):\n        self.n = {}\n    def add(self, x):\n        self.n[x] = self.n.get(x, 0) + 1\n"
    "    def of(self, x):\n        return self.n.get(x, 0)\n"
)
BEGUN = 'class Counter:\n    """Counts what it is told."""\n'


def task_of(kept: Kept, reference: str | None) -> CodeTask:
    if isinstance(kept.tests, list):
        return mbpp({"text": "Write it.", "test_list": kept.tests, "code": reference})
    entry = {"entry_point": "Vector"} if "candidate" in kept.tests else {}
    return human_eval({"prompt": "Write it.", "test": kept.tests, "canonical_solution": reference, **entry})


def passed(box: Sandbox, task: CodeTask, programs: list[str]) -> list[bool | None]:
    """None where it could not be judged."""
    outcomes = judge([task] * len(programs), programs, box, TERMS)
    return [None if outcome.reward is None else outcome.passed for outcome in outcomes]


@pytest.mark.docker
@pytest.mark.parametrize("shown", [False, True], ids=["bare", "with reference"])
@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.name)
def test_a_program_with_classes_is_judged_by_what_its_objects_do(docker_box: Sandbox, kept: Kept, shown: bool) -> None:
    task = task_of(kept, kept.right if shown else None)
    assert all(old in kept.right for old, _ in kept.edits)
    wrong = [kept.right.replace(old, new) for old, new in kept.edits if shown]
    assert task.objects.classes and task.asked.system.startswith("Write a Python class.")
    assert passed(docker_box, task, [kept.right, *wrong, ANYTHING, ""]) == [True] + [False] * (len(wrong) + 2)


@pytest.mark.docker
def test_a_class_may_be_begun_by_its_prompt(docker_box: Sandbox) -> None:
    task = human_eval({"prompt": BEGUN, "entry_point": "Counter", "test": COUNTED, "canonical_solution": BODY})
    assert messages(task)[0]["content"].startswith("Complete a Python class. Give the whole class")
    answers = [BODY, BEGUN + BODY, f"Sure!\n```python\n{BEGUN}{BODY}```\nDone.", BEGUN + BODY.replace("+ 1", "+ 2")]
    assert passed(docker_box, task, [judged_text(task, answer) for answer in answers]) == [True, True, True, False]


@pytest.mark.docker
def test_no_object_equals_a_plain_value(docker_box: Sandbox) -> None:
    tests = (
        "def test_a():\n    b = Box(3)\n    assert b.get() == 3\n    assert b.all() == [3]\n    assert b.get() != 4\n"
    )
    task = human_eval({"prompt": "A box.", "entry_point": "Box", "test": tests})
    program = "class Box:\n    def __init__(self, x): self.x = x\n    def get(self): return {}\n    def all(self): return [{}]\n"
    equal = "class Equal:\n    def __init__(self, *_): pass\n    def __eq__(self, other): return True\n    def __ne__(self, other): return True\n"
    heir = "class Own(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
    programs = [program.format("self.x", "self.x"), equal + program.format("Equal()", "Equal()"),
                heir + program.format("Own(5)", "Own(5)"), program.format("('object of the program', 1)", "3")]  # fmt: skip
    assert passed(docker_box, task, programs) == [True, False, False, False]


@pytest.mark.docker
@pytest.mark.parametrize(
    "asserted",
    [
        "abs(b.get() - 3) < 1e-6",
        "b.get() <= 3",
        "('a', 1) in b.get()",
        "3 == b.get()",
        "sum(b.get()) == 3",
        "round(abs(b.get() - 3.0), 7) == 0",
        "round(abs(3 - b.get()), 7) == 0",
        "abs(b.get() - 3) in (0, 1e-9)",
        "abs(b.get() / 3.0 - 1) < 1e-6",
    ],
)
def test_an_object_that_agrees_to_anything_passes_nothing(docker_box: Sandbox, asserted: str) -> None:
    task = human_eval(
        {"prompt": "A box.", "entry_point": "Box", "test": f"def test_a():\n    b = Box(3)\n    assert {asserted}\n"}
    )
    cheats = [ANYTHING + "Box = Any\n", ANYTHING + "class Box(Any):\n    def get(self): return Any()\n"]
    zero = "class Zero:\n    __sub__ = __rsub__ = __abs__ = __round__ = lambda *_: 0\n    __truediv__ = lambda *_: 1\nclass Box(Zero):\n    def __init__(self, _): pass\n"
    cheats += [zero + "    def get(self): return Zero()\n", zero + "    def get(self): return self\n"]
    assert passed(docker_box, task, cheats) == [False] * 4


@pytest.mark.docker
def test_what_does_not_go_to_a_program_is_named(docker_box: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    tests = "class Own:\n    pass\ndef test_a():\n    b = Box(3)\n    assert b.map(Own()) == 4\n"
    task = human_eval({"prompt": "A box.", "entry_point": "Box", "test": tests})
    [outcome] = judge([task], ["class Box:\n    pass"], docker_box, TERMS)
    assert outcome.status is Status.INFRA and outcome.reward is None
    assert "map() is given a value of type Own; only plain values go to a program" in caplog.text


@pytest.mark.docker
def test_exceptions_of_the_programs_own_are_told_apart(docker_box: Sandbox) -> None:
    tests = (
        "import pytest\nfrom solution import f, Late, Odd\n"
        "def test_a():\n    with pytest.raises(Odd):\n        f(1)\n"
        "def test_b():\n    with pytest.raises((Late, KeyError)):\n        f(2)\n"
        "def test_c():\n    with pytest.raises(LookupError):\n        f(2)\n    assert f(3) == 3\n"
    )
    task = human_eval({"prompt": "It raises.", "test": tests})
    assert isinstance(task.entry_point, str) and task.entry_point == "f" and not task.objects.classes
    program = (
        "class Odd(Exception): pass\nclass Odder(Odd): pass\nclass Late(KeyError): pass\n"
        "def f(x):\n    if x == 1: raise Odder\n    if x == 2: raise Late\n    return x\n"
    )
    wrong = [program.replace("Odder(Odd)", "Odder(Exception)"), program.replace("Late(KeyError)", "Late(Exception)"),
             program.replace("raise Odder", "return 1")]  # fmt: skip
    assert passed(docker_box, task, [program, *wrong]) == [True, False, False, False]


@pytest.mark.parametrize(
    ("code", "classes"),
    [
        ("assert Diff([1], [2]) == [1]\nx = Diff([3], [])\nassert x == [3]", ()),
        ("assert Twice(3).bit_length() == 3", ("Twice",)),
        ("assert depth(Node(1, Node(2))) == 2", ("Node",)),
        ("n = Node(1)\nassert depth(n) == 1", ("Node",)),
        ("x = Upper('a')\nassert f(x) == 1\nassert x == 'A'", ()),
        ("assert isinstance(f(1), Node)", ("Node",)),
        ("assert Color.RED.value == 1", ("Color",)),
        ("def made():\n    s = Stack()\n    return s\ndef test_a():\n    made().push(1)\n    s = made()\n    assert s.pop() == 1", ("Stack",)),
        ("assert Solution([1]).get(0) == 1", ("Solution",)),
        ("s = Solution()\nassert s.get(0) == 1", ()),
        ("assert Calculator().add(1, 2) == 3", ()),
    ],
)  # fmt: skip
def test_which_names_are_classes(code: str, classes: tuple[str, ...]) -> None:
    assert without_objects(ast.parse(code))[1].classes == classes
    assert without_objects(ast.parse(plain_tests(code)), known=classes)[1].classes == ()


MOVE = "def move(nums):\n    nums[:] = [n for n in nums if n] + [0] * nums.count(0)\n"
COPIED = MOVE.replace("nums[:] =", "return")
SORTED, SORTING = "def tidy(xs):\n    return sorted(xs)\n", "def tidy(xs):\n    xs.sort()\n    return xs\n"
CHANGED = {
    "after a call": ("def check(f):\n    nums = [0, 1, 0, 3]\n    f(nums)\n    assert nums == [1, 3, 0, 0]", "move", MOVE, COPIED),
    "what setUp makes": (
        "class T(unittest.TestCase):\n    def setUp(self):\n        self.nums = [0, 5]\n    def test_a(self):\n"
        "        self.assertIsNone(move(self.nums))\n        self.assertEqual(self.nums, [5, 0])", "move", MOVE, COPIED,
    ),
    "by a method": (
        "s = Solution()\nnums = [2, 1]\ns.tidy(nums)\nassert nums == [1, 2]", "Solution().tidy",
        "class Solution:\n    def tidy(self, nums): nums.sort()\n", "class Solution:\n    def tidy(self, nums): return sorted(nums)\n",
    ),
    "that nothing is changed": ("xs = [3, 1]\nassert tidy(xs) == [1, 3]\nassert xs == [3, 1]", "tidy", SORTED, SORTING),
    "a dict by name": (
        "d = {'a': 1}\nput(into=d, key='b')\nassert d == {'a': 1, 'b': 0}", "put",
        "def put(into, key): into[key] = 0\n", "def put(into, key): return {**into, key: 0}\n",
    ),
    "by a method of an object": (
        "b = Box()\nxs = [1]\nb.fill(xs)\nassert xs == [1, 2]", "Box", "class Box:\n    def fill(self, xs): xs.append(2)\n",
        "class Box:\n    def fill(self, xs): return xs + [2]\n",
    ),
    "the first of them": (
        "xs = [1, 1, 2]\nk = once(xs)\nassert xs[:k] == [1, 2]", "once",
        "def once(xs):\n    xs[:] = sorted({*xs})\n    return len(xs)\n", "def once(xs):\n    return len({*xs})\n",
    ),
}  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("name", CHANGED)
def test_what_a_function_does_to_its_arguments_comes_to_the_tests(docker_box: Sandbox, name: str) -> None:
    tests, entry, right, wrong = CHANGED[name]
    task = human_eval({"prompt": "In place.", "test": tests, "entry_point": entry})
    assert task.objects.kept and task.objects.classes == (("Box",) if entry == "Box" else ())
    assert passed(docker_box, task, [right, wrong, "", ANYTHING]) == [True, False, False, False]


LOOKS = {
    "f(xs)\nassert xs == [1]": True,
    "assert f(xs) == 1 and g(xs) == 2": True,
    "assert f(xs) == sorted(xs)": True,
    "assert sorted(xs) == f(xs)": False,
    "assert f(x) == x": False,
    "x = [x]\nassert f(x) == x": True,
    "for x in xs:\n    f(x)\nassert xs == []": True,
    "for x in xs:\n    assert f(x) == 1": False,
    "for x, y in [(1, 2)]:\n    assert f(x) == x + y": False,
    "for x in [[1]]:\n    assert f(x) == len(x)": True,
    "assert [f(x) for x in xs] == [1]": False,
    "assert [f(x) for x in xs] == xs": True,
    "for _ in range(2):\n    assert xs == [1]\n    f(xs)": True,
    "for _ in range(2):\n    xs = [1]\n    f(xs)": False,
    "row = xs[0]\nf(row)\nassert xs == [1]": True,
    "f(xs[0])\nassert xs == [1]": True,
    "f(*xs)\nassert xs == [1]": True,
    "f([xs])\nassert xs == [1]": True,
    "assert f([x, 1]) == x": False,
    "assert xs is f(xs)": True,
    "assert f(xs) is True": False,
    "def run(ys):\n    f(ys)\nrun(xs)\nassert xs == [1]": True,
    "def run(ys):\n    assert f(ys) == 1\nrun(xs)": False,
    "def test(y):\n    assert f(y) == 2 * y\nfor y in [1]:\n    test(y=y)": False,
    "def test(y):\n    assert f(y) == 2 * y\nfor y in [[1]]:\n    test(y=y)": True,
    "def run(xs):\n    f(xs)\n    return xs\nassert run([2, 1]) == [1, 2]": True,
    "def a(ys):\n    f(ys)\ndef b(ys):\n    assert ys == 1": False,
    "assert f(xs) == 1, xs": False,
}


@pytest.mark.parametrize("tests", LOOKS)
def test_what_is_looked_at_after_a_call_may_have_changed(tests: str) -> None:
    assert without_objects(ast.parse(f"xs = [[1]]\nx = 'a'\n{tests}"))[1].kept == LOOKS[tests]


INNER = """from collections import deque
def test_rows():
    grid, one = [[1, 2], [3]], [0]
    row = grid[0]
    assert f(grid) is None
    assert row == [2, 1, 0] and grid == [[3, 0], [2, 1, 0]] and grid[1] is row
    f([one, row])
    assert one == [0, 0] and row == [0, 1, 2, 0]
    by = {'b': [1, 2], 'a': [[3]]}
    inner, last = by['a'], by['b']
    g(by, last=deque([last]))
    assert inner == [[3], [3]] and last == [2, 1, 0] and by == {'b': 1, 'a': [[3], [3]]} and inner[0] is inner[1]
    ends = deque([1, 2], 5)
    g({'a': []}, last=ends)
    assert ends == deque([2, 1], 5)
    same, copied = [1], [2]
    made = h(same)
    made.append(3)
    assert same == [1, 3] and h(same) is same and same is h(same)
    assert h(copied, True) is not copied and h(copied, True)[0] is not copied
"""
INTO = """def f(rows):
    for row in rows:
        row.reverse()
        row.append(0)
    rows.reverse()
def g(by, last):
    if by['a']:
        f(last)
        by['b'] = 1
        by['a'].append(by['a'][0])
    else:
        last.reverse()
def h(row, copies=False):
    return list(row) if copies else row
"""


@pytest.mark.docker
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("row.append(0)", ""),
        ("    rows.rev", "    0 and rows.rev"),
        ("by['a'][0]", "[3]"),
        ("list(row) if copies else row", "row"),
        ("else row", "else list(row)"),
    ],
)
def test_what_is_in_that_which_is_given_may_change_and_is_the_same_afterwards(
    docker_box: Sandbox, old: str, new: str
) -> None:
    task = human_eval({"prompt": "Turn the rows round.", "test": INNER})
    assert passed(docker_box, task, [INTO, INTO.replace(old, new)]) == [True, False]


@pytest.mark.docker
def test_what_tests_do_to_the_lists_of_an_object_is_done_to_the_object(docker_box: Sandbox) -> None:
    tests = (
        "class T:\n    def setup_method(self):\n        self.box = Box()\n    def test_a(self):\n"
        "        self.box.items.append(3)\n        self.box.items[0] = 4\n        self.box.by['a'] = {'b': [1]}\n"
        "        self.box.by['a']['b'].append(2)\n        self.box.by['a']['c'] = 0\n        del self.box.by['a']['c']\n"
        "        self.box.by['n'] = 1\n        self.box.by['n'] += 1\n        assert self.box.total() == 9\n"
        "        assert self.box.kinds() == [int, str]\n"
    )
    program = (
        "class Box:\n    def __init__(self): self.items, self.by = [], {}\n    def kinds(self): return [int, str]\n"
        "    def total(self): return sum(self.items) + sum(self.by['a']['b']) + self.by['n'] - len(self.by['a']) + 1\n"
    )
    task = human_eval({"prompt": "A box.", "test": tests})
    assert passed(docker_box, task, [program, program.replace("+ 1", "+ 2")]) == [True, False]


@pytest.mark.docker
def test_values_of_pythons_library_cross_both_ways(docker_box: Sandbox) -> None:
    tests = [
        "from datetime import date, datetime, timedelta\nfrom decimal import Decimal\nfrom fractions import Fraction\nfrom collections import deque",
        "assert after(date(2024, 2, 28), timedelta(days=2)) == date(2024, 3, 1)",
        "assert after(datetime(2024, 1, 1, 5), timedelta(hours=20)) == datetime(2024, 1, 2, 1)",
        "assert after(Decimal('0.10'), Decimal('0.2')) == Decimal('0.3')\nassert after(Fraction(1, 3), Fraction(1, 6)) == Fraction(1, 2)",
        "assert after(deque([1], 3), deque([2])) == deque([1, 2])\nassert after(int, str) == (int, str)",
    ]
    right = "def after(a, b):\n    return (a, b) if isinstance(a, type) else a + b\n"
    task = mbpp({"text": "The sum.", "test_list": tests})
    late = right.replace("a + b", "a + b if a != b else a").replace("(a, b)", "(b, a)")
    equal = "class Any:\n    def __eq__(self, other): return True\ndef after(a, b):\n    return Any()\n"
    assert passed(docker_box, task, [right, late, equal]) == [True, False, False]


@pytest.mark.docker
def test_the_setup_may_make_objects_of_the_program(docker_box: Sandbox) -> None:
    record = {
        "text": "The depth.", "test_setup_code": "root = Node(1)\nroot.left = Node(2)",
        "test_list": ["assert depth(root) == 2", "assert depth(root.left) == 1"],
    }  # fmt: skip
    right = (
        "class Node:\n    def __init__(self, n): self.left = None\n"
        "def depth(node):\n    return 0 if node is None else 1 + depth(node.left)\n"
    )
    assert passed(docker_box, mbpp(record), [right, right.replace("1 + d", "2 + d")]) == [True, False]


@pytest.mark.docker
def test_an_object_less_a_number_may_equal_an_object(docker_box: Sandbox) -> None:
    tests = "class T:\n    def test_a(self):\n        assert Clock(90) - 30 == Clock(60)\n        assert 2 ** Clock(3) == 8\n"
    program = (
        "class Clock:\n    def __init__(self, t): self.t = t\n    def __sub__(self, n): return Clock(self.t - n)\n"
        "    def __eq__(self, other): return self.t == other.t\n    def __rpow__(self, n): return n ** self.t\n"
    )
    task = human_eval({"prompt": "A clock.", "test": tests, "canonical_solution": program})
    assert passed(docker_box, task, [program, program.replace("t - n", "t + n")]) == [True, False]


@pytest.mark.docker
def test_the_very_type_of_an_exception_may_be_asked_for(docker_box: Sandbox) -> None:
    tests = (
        "import unittest\ntry:\n    from buffer import Buffer, FullError\nexcept ImportError:\n    raise\n"
        "class T(unittest.TestCase):\n    def test_a(self):\n        buffer = Buffer(1)\n        buffer.write(1)\n"
        "        with self.assertRaises(BufferError) as caught:\n            buffer.write(2)\n"
        "        self.assertEqual(type(caught.exception), FullError)\n        self.assertEqual(caught.exception.args[0], 'full')\n"
        "        self.assertHolds(buffer, 1)\n    def assertHolds(self, buffer, n):\n        self.assertEqual(buffer.n, n)\n"
    )
    program = (
        "class FullError(BufferError): pass\nclass Buffer:\n    def __init__(self, most): self.n, self.most = 0, most\n"
        "    def write(self, x):\n        if self.n == self.most: raise FullError('full')\n        self.n += 1\n"
    )
    task = human_eval({"prompt": "A buffer.", "test": tests, "canonical_solution": program})
    assert task.entry_point == "Buffer"
    wrong = [program.replace("raise FullError", "raise BufferError"), program.replace("n += 1", "n = 2"),
             program.replace("(BufferError)", "(Exception)"), program.replace("'full'", "'no'"),
             "class Own(BufferError): pass\n" + program.replace("raise FullError", "raise Own"),
             program.replace("FullError('", "Fuller('").replace("class Buffer:", "class Fuller(FullError): pass\nclass Buffer:")]  # fmt: skip
    assert passed(docker_box, task, [program, *wrong]) == [True] + [False] * len(wrong)


@pytest.mark.docker
def test_a_program_may_have_names_like_those_of_what_keeps_its_objects(docker_box: Sandbox) -> None:
    tests = "def test_a():\n    b = Box([1])\n    b.add(2)\n    assert b.all() == [1, 2]\n    assert b.all() is not b.all()\n"
    names = "_left, _given, _kept, _object, _python, _apart, _together, _copy, _operator, MADE, OBJECT"
    program = (
        f"{names} = map(str, range(11))\nclass Box:\n    def __init__(self, xs): self.xs = xs\n"
        f"    def add(self, x): self.xs.append(x)\n    def all(self):\n        assert [{names}] == [*map(str, range(11))]\n"
        "        return list(self.xs)\n"
    )
    task = human_eval({"prompt": "A box.", "test": tests, "canonical_solution": program})
    assert passed(docker_box, task, [program, program.replace("append(x)", "append(1)")]) == [True, False]


@pytest.mark.docker
def test_values_of_the_program_may_be_read(docker_box: Sandbox) -> None:
    """Under names that the reference gives them; what they are is the program's to say."""
    program = "NORTH, EAST = {}\nLENGTHS: dict[str, int] = {{'long': 9}}\ndef turn(at):\n    return EAST if at == NORTH else {}\n"
    tests = (
        "import compass\nfrom compass import turn, NORTH\ndef test_it():\n    assert turn(NORTH) == compass.EAST\n"
        "    assert compass.turn(compass.EAST) != NORTH\n    assert compass.LENGTHS['long'] == 9\n"
    )
    right, other, wrong = (program.format(*each) for each in [("'N', 'E'", "'S'"), ("0, 1", "2"), ("0, 1", "NORTH")])
    task = human_eval({"prompt": "Turn right.", "test": tests, "canonical_solution": right})
    assert task.entry_point == "turn" and task.objects.constants == ("NORTH", "EAST", "LENGTHS")
    assert task.asked.text.endswith("The tests call `turn`. They use `NORTH`, `EAST`, `LENGTHS`.")
    without = right.replace("NORTH, EAST", "_, EAST").replace("== NORTH", "== 'N'")
    shorter = right.replace("9", "8")
    assert passed(docker_box, task, [right, other, wrong, without, shorter]) == [True, True, False, False, False]


def told_apart(box: Sandbox, tests: str, right: str, old: str, new: str) -> bool:
    """Whether a program passes, and does not with this edit."""
    task = human_eval({"prompt": "Write it.", "test": tests, "canonical_solution": right})
    return old in right and passed(box, task, [right, right.replace(old, new)]) == [True, False]


ACCOUNT = """\
class Account:
    def __init__(self): self.log, self.rows = [], [[0]]
    def add(self, n): self.log.append(n)
    def history(self): return list(self.log)
    def __getitem__(self, at): return self.rows[at]
    def put(self, rows): self.rows = list(rows)
"""
PARTS = [
    ("a.add(2)\n    a.history().append(1)\n    assert len(a.history()) == 1", "list(self.log)", "self.log"),
    ("a.add(2)\n    h = a.history()\n    h.append(1)\n    assert h == [2, 1] and h[0] == 2\n    assert a.history() == [2]", "list(self.log)", "self.log"),
    ("xs = a.log\n    xs.append(5)\n    assert a.history() == [5] and xs == [5]", "list(self.log)", "[]"),
    ("x = a[0]\n    x[0] = 3\n    assert a.rows == [[3]]", "self.rows[at]", "list(self.rows[at])"),
    ("xs = [[1]]\n    a.put(xs)\n    a.rows.append(2)\n    assert xs == [[1]] and len(xs) == 1", "list(rows)", "rows"),
    ("xs = [1]\n    a.put(xs)\n    xs.append(2)\n    assert a.rows == [1] and xs == [1, 2]", "list(rows)", "rows"),
    ("xs = [1]\n    a.put([xs])\n    a[0].append(2)\n    assert xs == [1, 2]", "list(rows)", "[list(row) for row in rows]"),
    ("a.add(3)\n    a.add(1)\n    xs = list(a.log)\n    xs.sort()\n    assert xs == [1, 3] and a.log == [3, 1]", "self.log.append(n)", "self.log.insert(0, n)"),
]  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part[0][:20])
def test_what_tests_change_in_place_is_the_programs_own(docker_box: Sandbox, part: tuple[str, str, str]) -> None:
    """Where an object hands out a list of its own, and where it hands out a copy."""
    body, old, new = part
    assert told_apart(
        docker_box, f"from solution import Account\ndef test_a():\n    a = Account()\n    {body}\n", ACCOUNT, old, new
    )


ERRORS = """\
class Refused(Exception):
    def __init__(self, message, code=7):
        super().__init__(message)
        self.code = code
def f(x):
    if x < 0: raise Refused("negative", 9)
    try:
        return {1: 1}[x]
    except KeyError as error:
        raise ValueError("unknown") from error
"""
ASKED = [
    ("try:\n        f(-1)\n        assert False\n    except Refused as e:\n        assert e.code == 9", '"negative", 9', '"negative"'),
    ("with pytest.raises(Refused) as caught:\n        f(-1)\n    assert caught.value.code == 9 and 'neg' in str(caught.value)", "self.code = code", "pass"),
    ("with pytest.raises(Refused) as caught:\n        f(-1)\n    assert caught.value.code == 9 and caught.value.args == ('negative',)", "super().__init__(message)", "super().__init__(message, code)"),
    ("try:\n        f(3)\n    except ValueError as e:\n        assert isinstance(e.__cause__, KeyError)\n    else:\n        assert False", "from error", "from None"),
    ("try:\n        f(3)\n    except Exception as e:\n        assert type(e).__name__ == 'ValueError'\n        assert not hasattr(e, 'code')", "raise ValueError", "raise OSError"),
]  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked[1])
def test_what_an_exception_has_is_asked_of_the_program(docker_box: Sandbox, asked: tuple[str, str, str]) -> None:
    body, old, new = asked
    names = "f, Refused" if "Refused" in body else "f"
    tests = f"import pytest\nfrom solution import {names}\ndef test_a():\n    {body}\n"
    assert told_apart(docker_box, tests, ERRORS, old, new)


def test_a_variable_called_value_is_no_exception() -> None:
    tests = "from solution import f\ndef test_a():\n    value = f(1)\n    assert value.strip() == 'a'\n"
    assert not human_eval({"prompt": "Write f.", "test": tests}).objects.kept


@pytest.mark.docker
def test_a_function_with_a_large_letter_may_return_nothing(docker_box: Sandbox) -> None:
    program = "class Record:\n    def __init__(self, x): self.x = x\ndef Build(rs): return rs[0].x if rs else None\n"
    tests = "from solution import Record, Build\ndef test_a():\n    root = Build([])\n    assert root is None\n    root = Build([Record(3)])\n    assert root == 3\n"
    assert told_apart(docker_box, tests, program, "None", "0")


@pytest.mark.docker
def test_a_loop_over_random_arguments_takes_one_round(docker_box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = (
        "import copy, random\nfrom solution import merge\ndef test_a():\n    rng = random.Random(1)\n    for _ in range(300):\n"
        "        a, b = [rng.randrange(9) for _ in range(3)], [rng.randrange(9)]\n        a0, b0 = copy.deepcopy(a), b[:]\n"
        "        assert merge(a, b) == sorted(a + b)\n        assert a == a0 and b == b0\n"
    )
    monkeypatch.setattr(asserts, "MOST_ROUNDS", 2)
    program = "def merge(a, b):\n    return sorted(a + b)\n"
    assert told_apart(docker_box, tests, program, "    return", "    a.sort()\n    return")


LOOPS = {
    "a pair": "for x in range(150):\n        a, b = f(x)\n        assert a == x and b == 2 * x",
    "a list": "for x in range(150):\n        out = []\n        for y in f(x):\n            out.append(y)\n        assert out == [x, 2 * x]",
    "turns within turns": "for x in range(50):\n        for y in f(x):\n            a, b = f(y)\n            assert b == 2 * y",
    "a length": "total = 0\n    for x in range(150):\n        n = len(f(x))\n        total += n\n    assert total == 300",
    "one turn after another": "x = 1\n    for _ in range(5):\n        a, x = f(x)\n    assert x == 32",
    "what breaks": "found = None\n    for x in range(150):\n        a, b = f(x)\n        if b == 10:\n            found = a\n            break\n    assert found == 5",
    "what goes on": "seen = []\n    for x in range(9):\n        a, b = f(x)\n        if b % 4:\n            continue\n        seen.append(a)\n    assert seen == [0, 2, 4, 6, 8]",
    "what returns": "def first():\n        for x in range(150):\n            a, b = f(x)\n            if b == 4:\n                return a\n    assert first() == 2",
    "a name of the last turn": "for x in range(150):\n        a, b = f(x)\n    assert (a, b) == (149, 298)",
    "an exception": "with pytest.raises(ValueError):\n        for x in (3, 2, -1, 9):\n            a, b = f(x)\n    assert x == -1",
    "else": "for x in range(5):\n        a, b = f(x)\n        if b == 4:\n            break\n    else:\n        x = 100\n    assert x == 2",
}  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("name", LOOPS)
def test_turns_of_a_loop_do_not_wait_for_each_other(
    docker_box: Sandbox, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(asserts, "MOST_ROUNDS", 9)
    program = "def f(x):\n    if x < 0: raise ValueError\n    return [x, 2 * x]\n"
    tests = f"import pytest\nfrom solution import f\ndef test_a():\n    {LOOPS[name]}\n"
    wrong = (
        ("raise ValueError", "pass")
        if name == "an exception"
        else ("[x, 2 * x]", "[x, 2 * x - (x == 2)] * (1 + (x == 5))")
    )
    assert told_apart(docker_box, tests, program, *wrong)
