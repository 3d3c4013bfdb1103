"""What tests share with a program in one process, and what they have of it here: seeds, clocks, imports, exceptions of the library,
types of dicts, the environment."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.shapes import human_eval
from kolmocli.tasks.code.task import CodeTask
from tests.tasks.code.edited import Case, require_judged

DRAWS = "import random\ndef roll(n): return [random.randint(1, 6) for _ in range(n)]\n"
COUNTS = """\
from collections import Counter, OrderedDict, defaultdict
def letters(text): return Counter(text)
def by_size(words):
    found = defaultdict(list)
    for word in words: found[len(word)].append(word)
    return found
def ordered(pairs): return OrderedDict(sorted(pairs))
def most(counts): return counts.most_common(1)[0][0]
"""
READS = """\
import binascii, json, os, random, sqlite3, sys, time
from datetime import datetime
def load(text): return json.loads(text)
def raw(text): return binascii.unhexlify(text)
def rows(path): return sqlite3.connect(path).execute("SELECT 1").fetchall()
def stamp(): return {"at": datetime.now().strftime("%Y-%m-%d %H"), "age": time.time() > 1e9}
def old(path, age): return os.path.getmtime(path) < time.time() - age
def squares(n): return (k * k for k in range(n))
def known(name): return os.environ.get(name)
def search(path):
    sys.path.append(path)
    return len(sys.path)
def token(): return os.urandom(4).hex()
"""
WITHOUT = "def inside(folder, name): return os.path.join(folder, name)\n"

CASES = [
    Case("a seed", DRAWS, ("1, 6", "2, 6"), """
import random, unittest
class TestRoll(unittest.TestCase):
    def setUp(self):
        random.seed(42)
    def test_it(self):
        self.assertEqual(roll(5), [6, 1, 1, 6, 3])
    def test_again(self):
        self.assertEqual(roll(2), [6, 1])
        random.seed(7)
        first = roll(3)
        random.seed(7)
        self.assertEqual(roll(3), first)
"""),
    Case("a seed by its name", DRAWS, ("1, 6", "0, 6"), """
from random import seed
def test_it():
    seed(42)
    assert roll(5) == [6, 1, 1, 6, 3]
"""),
    Case("a counter", COUNTS, ("Counter(text)", "dict(Counter(text))"), """
import collections
def test_it():
    found = letters("abca")
    assert isinstance(found, collections.Counter) and found.most_common(1) == [("a", 2)]
    assert found["z"] == 0 and most(collections.Counter("xxy")) == "x"
"""),
    Case("a dict with an order", COUNTS, ("sorted(pairs)", "sorted(pairs, reverse=True)"), """
from collections import OrderedDict
def test_it():
    assert ordered([(2, "b"), (1, "a")]) == OrderedDict([(1, "a"), (2, "b")])
    assert isinstance(ordered([]), OrderedDict)
"""),
    Case("a dict with a default", COUNTS, ("defaultdict(list)", "__import__('collections').defaultdict(lambda: [0])"), """
from collections import defaultdict
def test_it():
    found = by_size(["a", "bc", "d"])
    assert found == {1: ["a", "d"], 2: ["bc"]} and isinstance(found, defaultdict)
    assert found[9] == []
"""),
    Case("exceptions of the library", READS, ("json.loads(text)", "int(text)"), """
import json, binascii, sqlite3, pytest
def test_it():
    with pytest.raises(json.JSONDecodeError):
        load("{")
    with pytest.raises(json.decoder.JSONDecodeError, match="Expecting"):
        load("")
    with pytest.raises(binascii.Error):
        raw("xyz")
    with pytest.raises(sqlite3.OperationalError):
        rows("none/a.db")
"""),
    Case("a clock", READS, ("%Y-%m-%d %H", "%Y-%m %H"), """
from datetime import datetime
def test_it():
    hour = datetime.now().strftime("%Y-%m-%d %H")
    assert stamp() in ({"at": hour, "age": True}, {"at": datetime.now().strftime("%Y-%m-%d %H"), "age": True})
"""),
    Case("times of files", READS, ("time.time() - age", "age"), """
import os, time
def test_it(tmp_path):
    path = tmp_path / "a"
    path.touch()
    then = time.time() - 3600
    os.utime(path, (then, then))
    assert old(path, 60) and not old(path, 7200)
    assert abs(os.path.getctime(path) - time.time()) < 7200
"""),
    Case("a type of the library", READS, ("(k * k for k in range(n))", "[k * k for k in range(n)]"), """
import types
def test_it():
    assert isinstance(squares(3), types.GeneratorType)
    assert list(squares(3)) == [0, 1, 4]
"""),
    Case("what the process has", READS, ("sys.path.append(path)", "pass"), """
import os, sys
def test_it():
    os.environ["KIND"] = "x"
    assert known("KIND") == "x" and os.getenv("KIND") == "x"
    del os.environ["KIND"]
    assert known("KIND") is None
    search("/a/b")
    assert "/a/b" in sys.path
    sys.path.remove("/a/b")
    assert "/a/b" not in sys.path
"""),
    Case("a value of a mock", READS, ("os.urandom(4)", "os.urandom(5)"), """
import os
from unittest.mock import patch
@patch("os.urandom", return_value=os.urandom(4))
def test_it(drawn):
    first = token()
    assert token() == first and len(first) == 8
    drawn.assert_called_with(4)
@patch(__name__ + ".token", return_value="x")
def test_own(made):
    assert token() == "x"
"""),
    Case("functions that ask the library", "def first(choose, names): return next(name for name in names if choose(name))\n",
         ("if choose(name)", ""), """
import os, time
def test_it(tmp_path):
    (tmp_path / "b").touch()
    assert first(lambda name: os.path.exists(tmp_path / name), ["a", "b"]) == "b"
    assert first(lambda name: time.time() > 1e9 and name == "c", ["a", "c"]) == "c"
"""),
    Case("classes of the library", "from array import array\ndef made(n): return array('i', range(n))\n", ("array('i', range(n))", "list(range(n))"), """
from array import array
def test_it():
    assert isinstance(made(2), array) and list(made(3)) == [0, 1, 2]
"""),
    Case("what functions say of themselves", "import inspect\ndef kinds(f): return {n: p.annotation.__name__ for n, p in inspect.signature(f).parameters.items()}\n",
         ("p.annotation.__name__", "'int'"), """
def test_it():
    def f(a: int, b: str) -> bool: return a == b
    assert kinds(f) == {"a": "int", "b": "str"}
"""),
    Case("what is not told what it returns", "import csv\ndef save(path, rows, done):\n    with open(path, 'w') as file:\n        csv.writer(file).writerows(rows)\n    return 1 if done(path) else 2\n",
         ("1 if", "3 if"), """
from unittest.mock import MagicMock, patch
def test_it():
    done = MagicMock()
    with patch('csv.writer') as writer, patch('builtins.open') as opened:
        assert save('a', [[1]], done) == 1
    writer.assert_called_once()
    opened.assert_called_once_with('a', 'w')
    done.assert_called_once_with('a')
"""),
    Case("a network that is patched", "import urllib.request\ndef get(url):\n    urllib.request.urlretrieve(url, 'x')\n    return url[-1]\n",
         ("[-1]", "[0]"), """
from unittest.mock import patch
@patch('urllib.request.urlretrieve')
def test_it(got):
    assert get('ab') == 'b'
    got.assert_called_once_with('ab', 'x')
"""),
    Case("a pause", "import time\nbegun = []\ndef start(): begun.append(time.monotonic())\ndef over(): return time.monotonic() - begun[-1] > 0.2\n",
         ("> 0.2", "> 20"), """
import time
def test_it():
    start()
    assert not over()
    time.sleep(0.25)
    assert over()
"""),
    Case("imports of the tests", WITHOUT, ("folder, name)\n", "name, folder)\n"), """
import os.path
import os
def test_it():
    assert inside("a", "b") == os.path.join("a", "b")
"""),
    Case("numbers that are not near", READS, ("range(n)", "range(n + 1)"), """
import unittest
class TestIt(unittest.TestCase):
    def test_it(self):
        self.assertNotAlmostEqual(sum(squares(3)), 14)
        self.assertNotAlmostEqual(sum(squares(2)), 1.5, places=1)
        self.assertEqual(sum(squares(3)), 5)
"""),
]  # fmt: skip


def task_of(case: Case) -> CodeTask:
    return human_eval({"prompt": "Write it.", "test": case.tests, "canonical_solution": case.program})


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_is_judged_as_in_the_process_of_the_tests(docker_box: Sandbox, case: Case) -> None:
    require_judged(task_of(case), case, docker_box)


def test_an_import_of_the_tests_takes_no_name_of_the_program() -> None:
    own = "def gcd(a, b): return a if b == 0 else gcd(b, a % b)\ndef least(a, b): return a * b // gcd(a, b)\n"
    case = Case("", own, ("", ""), "from math import gcd\ndef test_it():\n    assert least(4, 6) == 24 // gcd(4, 6)\n")
    assert not task_of(case).objects.imports


def test_an_import_that_the_reference_has_is_no_part_of_the_program() -> None:
    alone = Case(
        "", f"import os\n{WITHOUT}", ("", ""), "import os\ndef test_it():\n    assert inside('a', 'b') == 'a/b'\n"
    )
    assert (
        not task_of(alone).objects.imports and "import os" in task_of(alone._replace(program=WITHOUT)).objects.imports
    )
