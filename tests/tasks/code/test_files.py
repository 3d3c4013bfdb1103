"""Tests that write files and look at them: those are in the memory of the program, and it is judged as others are."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.shapes import human_eval, mbpp
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from tests.tasks.code.edited import Case, require_judged

TEXTS = """\
import csv
import json
import os
import shutil
import sqlite3
import zipfile
from pathlib import Path
def count_words(path):
    with open(path, encoding="utf-8") as file:
        return len(file.read().split())
def save_rows(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, ["name", "n"])
        writer.writeheader()
        writer.writerows(rows)
def total(path):
    with open(path, newline="") as file:
        return sum(int(row["n"]) for row in csv.DictReader(file))
def settings(path, **more):
    known = {}
    if os.path.exists(path):
        with open(path) as file:
            known = json.load(file)
    with open(path, "w") as file:
        json.dump(known | more, file)
    return known | more
def sizes(folder):
    return {path.name: path.stat().st_size for path in sorted(Path(folder).rglob("*.txt"))}
def newest(folder):
    return max(Path(folder).iterdir(), key=lambda path: path.name)
def renamed(path, suffix):
    return Path(path).with_suffix(suffix)
def tidy(folder):
    for name in os.listdir(folder):
        whole = os.path.join(folder, name)
        if os.path.isfile(whole):
            os.makedirs(os.path.join(folder, name[0]), exist_ok=True)
            shutil.move(whole, os.path.join(folder, name[0], name))
def pack(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            archive.write(file, os.path.basename(file))
class Log:
    def __init__(self, path):
        self.path = path
    def write(self, line):
        with open(self.path, "a") as file:
            file.write(line + "\\n")
    def lines(self):
        try:
            with open(self.path) as file:
                return [line.strip() for line in file]
        except FileNotFoundError:
            return []
class Store:
    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.execute("CREATE TABLE IF NOT EXISTS t (k TEXT PRIMARY KEY, v INTEGER)")
    def put(self, k, v):
        self.connection.execute("INSERT OR REPLACE INTO t VALUES (?, ?)", (k, v))
        self.connection.commit()
    def get(self, k):
        found = self.connection.execute("SELECT v FROM t WHERE k = ?", (k,)).fetchone()
        return found and found[0]
    def close(self):
        self.connection.close()
"""
HEAD = "import csv, json, os, shutil, sqlite3, tempfile, unittest, zipfile\nfrom pathlib import Path\nimport pytest\nfrom solution import *\n"

CASES = [
    Case("a folder of pytest's", TEXTS, ("file.read().split()", "file.read()"), """
def test_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one two  three\\n")
    assert count_words(path) == 3
    assert count_words(str(path)) == 3
    path.write_text("")
    assert count_words(path) == 0
"""),
    Case("a file that is missing", TEXTS, ("with open(path, encoding", "open(path, 'a').close()\n    with open(path, encoding"), """
@pytest.mark.parametrize("name", ["none.txt", "/nonexistent/none.txt"])
def test_it(name):
    with pytest.raises(FileNotFoundError):
        count_words(name)
"""),
    Case("a folder of setUp's", TEXTS, ('int(row["n"])', "1"), """
class TestRows(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "rows.csv")
    def tearDown(self):
        shutil.rmtree(self.folder)
    def test_rows(self):
        save_rows(self.path, [{"name": "a", "n": 1}, {"name": "b, c", "n": 2}])
        with open(self.path, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(rows, [{"name": "a", "n": "1"}, {"name": "b, c", "n": "2"}])
        self.assertEqual(total(self.path), 3)
    def test_empty(self):
        self.assertFalse(os.path.exists(self.path))
        save_rows(self.path, [])
        with open(self.path) as file:
            self.assertEqual(file.read(), "name,n\\n")
"""),
    Case("a named file", TEXTS, ('int(row["n"])', 'len(row["n"])'), """
def test_it():
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
        writer = csv.writer(file)
        writer.writerow(["name", "n"])
        writer.writerows([["x", 10], ["y", 32]])
        name = file.name
    try:
        assert total(name) == 42
    finally:
        os.unlink(name)
    assert not os.path.exists(name)
"""),
    Case("json", TEXTS, ("json.dump(known | more, file)", "json.dump(more, file)"), """
@pytest.fixture
def path(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"a": 1}))
    return path
def test_it(path):
    assert settings(path, b=2) == {"a": 1, "b": 2}
    with path.open() as file:
        assert json.load(file) == {"a": 1, "b": 2}
    assert json.loads(path.read_text())["a"] == 1
def test_new(tmp_path):
    assert settings(tmp_path / "new.json", c=[1]) == {"c": [1]}
    assert (tmp_path / "new.json").exists() and len(list(tmp_path.iterdir())) == 1
"""),
    Case("folders of folders", TEXTS, ("rglob", "glob"), """
def test_it(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "a.txt").write_text("abc")
    (tmp_path / "in" / "b.txt").write_bytes(b"12345")
    (tmp_path / "c.md").touch()
    assert sizes(tmp_path) == {"a.txt": 3, "b.txt": 5}
"""),
    Case("paths that come back", TEXTS, ("max(Path", "min(Path"), """
def test_it(tmp_path):
    for name in ("a", "c", "b"):
        (tmp_path / name).write_text(name)
    found = newest(tmp_path)
    assert found == tmp_path / "c" and isinstance(found, Path)
    assert found.name == "c" and found.read_text() == "c" and found.parent == tmp_path
"""),
    Case("paths without files", TEXTS, ("with_suffix(suffix)", "with_suffix('.md')"), """
def test_it():
    assert renamed("a/b.txt", ".md") == Path("a/b.md")
    assert str(renamed(Path("c.tar"), ".gz")) == "c.gz"
"""),
    Case("what was moved", TEXTS, ("shutil.move", "shutil.copy"), """
def test_it():
    with tempfile.TemporaryDirectory() as folder:
        for name in ["apple", "avocado", "pear"]:
            with open(os.path.join(folder, name), "w") as file:
                print(name, file=file)
        tidy(folder)
        assert sorted(os.listdir(folder)) == ["a", "p"]
        assert sorted(os.listdir(os.path.join(folder, "a"))) == ["apple", "avocado"]
        with open(f"{folder}/p/pear") as file:
            assert file.readlines() == ["pear\\n"]
"""),
    Case("an archive", TEXTS, ("os.path.basename(file)", "file"), """
def test_it(tmp_path):
    names = []
    for n in range(3):
        path = tmp_path / f"{n}.txt"
        path.write_text(str(n))
        names.append(str(path))
    pack(str(tmp_path / "all.zip"), names)
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.namelist() == ["0.txt", "1.txt", "2.txt"]
        assert archive.read("1.txt") == b"1"
"""),
    Case("an object's file", TEXTS, ('open(self.path, "a")', 'open(self.path, "w")'), """
class TestLog(unittest.TestCase):
    def setUp(self):
        self.log = Log("log.txt")
    def tearDown(self):
        if os.path.exists("log.txt"):
            os.remove("log.txt")
    def test_two(self):
        self.log.write("a")
        self.log.write("b")
        self.assertEqual(self.log.lines(), ["a", "b"])
        with open("log.txt") as file:
            for number, line in enumerate(file):
                self.assertEqual(line, "ab"[number] + "\\n")
    def test_none(self):
        self.assertEqual(self.log.lines(), [])
"""),
    Case("a fixture that takes it away", TEXTS, ("except FileNotFoundError", "except OSError"), """
@pytest.fixture
def log():
    made = Log("kept.txt")
    yield made
    os.remove("kept.txt")
def test_it(log, capsys):
    log.write("x")
    assert os.path.getsize("kept.txt") == 2
    assert log.lines() == ["x"]
def test_folder(tmp_path):
    with pytest.raises(IsADirectoryError):
        Log(tmp_path).lines()
"""),
    Case("a database", TEXTS, ("self.connection.commit()", "pass"), """
class TestStore(unittest.TestCase):
    def setUp(self):
        self.store = Store("test.db")
    def tearDown(self):
        self.store.close()
        os.remove("test.db")
    def test_put(self):
        self.store.put("a", 1)
        self.store.put("a", 2)
        self.assertEqual(self.store.get("a"), 2)
        self.store.close()
        other = sqlite3.connect("test.db")
        self.assertEqual(other.execute("SELECT k, v FROM t").fetchall(), [("a", 2)])
        other.close()
    def test_fresh(self):
        self.assertIsNone(self.store.get("a"))
"""),
    Case("another folder", TEXTS, ('line + "\\n"', 'line'), """
def test_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = Log("l.txt")
    log.write("a")
    assert (tmp_path / "l.txt").read_text() == "a\\n"
    assert os.listdir() == ["l.txt"]
def test_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Log("l.txt").lines() == []
"""),
    Case("files that are mocks", TEXTS, ("file.read().split()", "file.read()"), """
from unittest.mock import mock_open, patch
def test_it():
    with patch("builtins.open", mock_open(read_data="a b c")):
        assert count_words("x") == 3
class TestIt(unittest.TestCase):
    @patch("builtins.open", new_callable=mock_open, read_data="one two")
    def test_decorated(self, mocked):
        self.assertEqual(count_words("dummy.txt"), 2)
        mocked.assert_called_once_with("dummy.txt", encoding="utf-8")
    @patch("builtins.open", mock_open(read_data=""))
    def test_empty(self):
        self.assertEqual(count_words("dummy.txt"), 0)
    def test_lines(self):
        m = mock_open(read_data="x\\ny\\n")
        with patch("builtins.open", m) as opened:
            self.assertEqual(Log("p").lines(), ["x", "y"])
        opened.assert_called_with("p")
    @patch("builtins.open", side_effect=FileNotFoundError)
    def test_none(self, _):
        self.assertEqual(Log("p").lines(), [])
"""),
    Case("what is written to mocks", TEXTS, ('line + "\\n"', 'line'), """
from unittest.mock import mock_open, patch
class TestIt(unittest.TestCase):
    def test_write(self):
        m = mock_open()
        with patch("builtins.open", m):
            Log("p").write("line")
        m.assert_called_once_with("p", "a")
        m().write.assert_called_once_with("line\\n")
    @patch("builtins.open", new_callable=mock_open)
    def test_handle(self, mocked):
        Log("p").write("line")
        handle = mocked()
        handle.write.assert_called_once_with("line\\n")
    @patch("builtins.open", new_callable=mock_open)
    def test_value(self, mocked):
        Log("p").write("x")
        Log("p").write("y")
        mocked.return_value.write.assert_any_call("x\\n")
        self.assertEqual(mocked.call_count, 2)
        written = "".join(call.args[0] for call in mocked().write.call_args_list)
        self.assertEqual(written, "x\\ny\\n")
"""),
    Case("a folder of py.path", TEXTS, ("file.read().split()", "file.read()"), """
def test_it(tmpdir):
    path = tmpdir.join("a.txt")
    path.write("one two")
    assert count_words(str(path)) == 2
    assert count_words(path) == 2
    assert path.read() == "one two" and path.check()
    sub = tmpdir.mkdir("sub")
    sub.join("b.txt").write("12")
    assert sizes(str(tmpdir)) == {"a.txt": 7, "b.txt": 2}
"""),
    Case("folders of pytest's", TEXTS, ("max(Path", "min(Path"), """
@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    for name in ("x", "y"):
        (made / f"{name}.txt").write_text(name * 3)
    return made
def test_it(folder):
    assert sizes(folder) == {"x.txt": 3, "y.txt": 3}
def test_other(folder):
    assert newest(folder).name == "y.txt"
"""),
    Case("cleanups", TEXTS, ('int(row["n"])', '1'), """
class TestIt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.path = os.path.join(cls.folder, "w.txt")
        with open(cls.path, "w") as file:
            file.write("a b\\nc")
    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
    def setUp(self):
        self.more = tempfile.TemporaryDirectory()
        self.addCleanup(self.more.cleanup)
    def test_it(self):
        self.assertEqual(count_words(self.path), 3)
    def test_more(self):
        name = os.path.join(self.more.name, "rows.csv")
        save_rows(name, [{"name": "q", "n": 5}])
        self.assertEqual(total(name), 5)
        self.assertTrue(os.path.isfile(name))
        self.assertEqual(open(name).read().splitlines(), ["name,n", "q,5"])
"""),
    Case("functions that write", TEXTS, ("writer.writeheader()", "pass"), """
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path
@pytest.mark.parametrize("text, n", [("", 0), ("a", 1), ("a\\tb\\nc", 3)])
def test_it(tmp_path, text, n):
    assert count_words(write(tmp_path / "t.txt", text)) == n
def test_json(tmp_path):
    path = write(str(tmp_path / "s.json"), json.dumps({"k": [1, 2]}))
    settings(path, z=None)
    assert json.load(open(path)) == {"k": [1, 2], "z": None}
def test_rows(tmp_path):
    path = tmp_path / "r.csv"
    save_rows(path, [{"name": "a", "n": 1}])
    with open(path) as f:
        assert list(csv.reader(f)) == [["name", "n"], ["a", "1"]]
    with open(path) as f:
        rows = [row for row in csv.reader(f)]
    assert rows[1] == ["a", "1"]
"""),
    Case("while it is open", TEXTS, ("shutil.move", "shutil.copy"), """
def test_it():
    with tempfile.NamedTemporaryFile(mode="w+", suffix=".txt") as f:
        f.write("p q r s")
        f.flush()
        assert count_words(f.name) == 4
        f.seek(0)
        assert f.read() == "p q r s"
def test_walk(tmp_path):
    for n in range(3):
        d = tmp_path / f"d{n}"
        d.mkdir()
        (d / "f.txt").write_text("x" * n)
    found = []
    for root, dirs, files in os.walk(tmp_path):
        for name in files:
            found.append(os.path.relpath(os.path.join(root, name), tmp_path))
    assert sorted(found) == ["d0/f.txt", "d1/f.txt", "d2/f.txt"]
    tidy(tmp_path / "d1")
    assert os.path.exists(tmp_path / "d1" / "f" / "f.txt")
    assert not (tmp_path / "d1" / "f.txt").exists()
"""),
    Case("patches of os", TEXTS, ("os.path.exists(path)", "os.path.isfile(path)"), """
from unittest.mock import patch
class TestIt(unittest.TestCase):
    @patch("os.path.exists", return_value=False)
    def test_it(self, exists):
        self.assertEqual(settings("n.json", a=1), {"a": 1})
        exists.assert_called_once_with("n.json")
        with open("n.json") as f:
            self.assertEqual(json.load(f), {"a": 1})
        os.remove("n.json")
    @patch("shutil.move")
    @patch("os.makedirs")
    @patch("os.path.isfile", return_value=True)
    @patch("os.listdir", return_value=["ab", "c"])
    def test_tidy(self, listdir, isfile, makedirs, move):
        tidy("folder")
        self.assertEqual(move.call_count, 2)
        makedirs.assert_any_call("folder/a", exist_ok=True)
"""),
    Case("a folder for each test", TEXTS, ('line + "\\n"', 'line'), """
class TestLog:
    @pytest.fixture(autouse=True)
    def setup(self, tmp_path):
        self.path = tmp_path / "log"
        self.log = Log(self.path)
    def test_it(self, tmp_path):
        self.log.write("x")
        assert self.path.parent == tmp_path
        assert self.path.read_text() == "x\\n"
        assert [p.name for p in tmp_path.iterdir()] == ["log"]
    def test_unicode(self):
        self.log.write("é ü")
        assert self.log.lines() == ["é ü"]
        assert self.path.stat().st_size > 4
"""),
    Case("a database in a folder", TEXTS, ("found and found[0]", "found"), """
from contextlib import closing
@pytest.fixture
def store(tmp_path):
    made = Store(str(tmp_path / "s.db"))
    yield made
    made.close()
def test_it(store, tmp_path):
    store.put("k", 3)
    with closing(sqlite3.connect(str(tmp_path / "s.db"))) as c:
        assert c.execute("SELECT COUNT(*) FROM t").fetchone()[0] == 1
        rows = c.execute("SELECT * FROM t").fetchall()
        assert rows == [("k", 3)]
    assert store.get("k") == 3 and store.get("none") is None
def test_memory():
    store = Store(":memory:")
    store.put("a", 1)
    assert store.get("a") == 1
"""),
    Case("an exception while it is open", TEXTS, ('open(path, encoding', 'open(path, "a+", encoding'), """
def test_it(tmp_path):
    with pytest.raises(ValueError):
        with open(tmp_path / "x", "w") as f:
            f.write("partial")
            raise ValueError("stop")
    assert count_words(tmp_path / "x") == 1
    with pytest.raises(FileNotFoundError):
        count_words(tmp_path / "none")
    with pytest.raises((IsADirectoryError, PermissionError)):
        count_words(tmp_path)
    with pytest.raises(FileExistsError):
        open(tmp_path / "x", "x")
"""),
    Case("an exception of the library while it is open", TEXTS, ("file.read().split()", "file.read()"), """
def test_it(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{ a")
    with pytest.raises(json.JSONDecodeError):
        with open(path) as file:
            json.load(file)
    assert count_words(path) == 2
"""),
    Case("the environment", "import os\ndef place(): return os.environ.get('HOME_OF', os.getenv('OTHER', 'nowhere'))\n", ("'OTHER'", "'ANOTHER'"), """
from unittest.mock import patch
def test_set(monkeypatch):
    assert place() == "nowhere"
    monkeypatch.setenv("HOME_OF", "here")
    assert place() == "here"
    monkeypatch.delenv("HOME_OF")
    assert place() == "nowhere"
def test_patched():
    with patch.dict(os.environ, {"OTHER": "there"}, clear=True):
        assert place() == "there"
    assert place() == "nowhere"
@patch.dict("os.environ", {"OTHER": "a", "HOME_OF": "b"})
def test_decorated():
    assert place() == "b"
"""),
]  # fmt: skip


def task_of(tests: str, program: str = TEXTS) -> CodeTask:
    return human_eval({"prompt": "Write it.", "test": HEAD + tests, "canonical_solution": program})


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_is_judged_by_tests_that_have_files(docker_box: Sandbox, case: Case) -> None:
    require_judged(task_of(case.tests, case.program), case, docker_box)


@pytest.mark.docker
def test_asserts_alone_may_reach_files(docker_box: Sandbox) -> None:
    record = {
        "text": "Write it.",
        "test_list": ["with open('a', 'w') as f: f.write('x y')", "assert count_words('a') == 2"],
        "code": TEXTS,
    }
    outcomes = judge([mbpp(record)] * 2, [TEXTS, TEXTS.replace(".split()", "")], docker_box, Terms(Relative(0.25)))
    assert [outcome.passed for outcome in outcomes] == [True, False]


@pytest.mark.docker
@pytest.mark.parametrize(
    "liar",
    [
        "class Any(type(Path())):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef newest(folder): return Any('x')\n",
        "def newest(folder):\n    type(Path()).__eq__ = lambda *_: True\n    return Path('x')\n",
        "class PosixPath(type(Path())):\n    def __eq__(self, other): return True\n    def __str__(self): return Same('x')\nclass Same(str):\n    def __eq__(self, other): return True\ndef newest(folder): return PosixPath('x')\n",
        "def newest(folder): return Same()\nclass Same:\n    def __eq__(self, other): return True\n    def __fspath__(self): return 'x'\n",
    ],
)
def test_a_path_is_what_it_says(docker_box: Sandbox, liar: str) -> None:
    task = task_of(
        "def test_it(tmp_path):\n    (tmp_path / 'c').touch()\n    assert newest(tmp_path) == tmp_path / 'c'\n"
    )
    outcomes = judge([task] * 2, [TEXTS, TEXTS + liar], docker_box, Terms(Relative(0.25)))
    assert [outcome.passed for outcome in outcomes] == [True, False]


def test_a_policy_is_told_that_there_are_files() -> None:
    written, opened = (task_of(case.tests) for case in CASES if case.name in ("json", "files that are mocks"))
    without = task_of("def test_it():\n    assert renamed('a', '.b')\n")
    assert "for files too" in written.prompt.system and "for files too" in opened.prompt.system
    assert "no files" in without.prompt.system
