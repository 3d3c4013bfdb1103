"""Tests with mocks and patches: a program is given functions for them, and never a mock."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.shapes import human_eval
from kolmocli.tasks.code.task import CodeTask
from tests.tasks.code.edited import Case, require_judged

EVENTS = """\
class Events:
    def __init__(self): self.all = {}
    def on(self, name, g): self.all.setdefault(name, []).append(g)
    def emit(self, name, *given, **named): return [g(*given, **named) for g in self.all.get(name, [])]
"""
RETRY = """\
import time
def retry(g, times, wait=0.5):
    for at in range(times):
        try: return g()
        except ConnectionError:
            if at + 1 == times: raise
            time.sleep(wait)
"""
SERVICE = """\
class Service:
    def __init__(self, load, log): self.load, self.log = load, log
    def get(self, key):
        found = 2 * self.load(key)
        self.log(f"got {key}")
        return found
"""
GAME = """\
import random
def ask(): return input("Name? ").strip()
def guess():
    wanted = random.randint(1, 10)
    for tries in range(1, 10):
        if int(input("Number? ")) == wanted:
            print(f"{tries} tries")
            return tries
class Store:
    def load(self, key): raise KeyError(key)
    def twice(self, key): return 2 * self.load(key)
def helper(x): return x + 1
def both(x): return 10 * helper(x)
"""
HEAD = "import pytest\nimport random\nimport time\nimport builtins\nfrom unittest import mock, TestCase\nfrom unittest.mock import Mock, MagicMock, patch, call\n"


CASES = [
    Case("a callback", EVENTS, ("g(*given, **named) for", "g(*given) for"), """
def test_it():
    seen, e = Mock(), Events()
    other = MagicMock(return_value=3)
    e.on('a', seen)
    e.on('a', other)
    seen.assert_not_called()
    assert e.emit('a', 1, k=2)[1] == 3
    seen.assert_called_once_with(1, k=2)
    e.emit('a', 5)
    assert seen.call_count == 2 and other.called
    seen.assert_any_call(1, k=2)
    seen.assert_called_with(5)
    assert seen.call_args_list == [call(1, k=2), mock.call(5)]
    assert seen.call_args[0][0] == 5 and other.call_args.args == (5,) and other.call_args.kwargs == {}
    assert [c.args for c in seen.call_args_list] == [(1,), (5,)] and seen.mock_calls[0].kwargs == {'k': 2}
    other.assert_has_calls([call(5)])
    other.assert_has_calls([call(5), call(1, k=2)], any_order=True)
    other.reset_mock()
    other.assert_not_called()
"""),
    Case("calls that are too many", EVENTS, ("for g in self", "for g in 2 * self"), """
class TestEvents(TestCase):
    def test_it(self):
        seen = mock.Mock()
        e = Events()
        e.on('a', seen)
        e.emit('a')
        e.emit('b')
        seen.assert_called_once()
        self.assertEqual(seen.call_count, 1)
"""),
    Case("fixtures", EVENTS, ("return [", "[0]; return 2 * ["), """
@pytest.fixture
def seen():
    return Mock(return_value=1)
@pytest.fixture
def events():
    return Events()
def test_a(events, seen):
    events.on('a', seen)
    assert events.emit('a', 7) == [1]
    seen.assert_called_once_with(7)
class TestAgain:
    def test_b(self, seen):
        seen.assert_not_called()
        seen.side_effect = lambda x: x + 1
        e = Events()
        e.on('b', seen)
        assert e.emit('b', 2) == [3] and e.emit('c') == []
"""),
    Case("what a class sets up", SERVICE, ("2 * self.load(key)", "self.load(key) or 0"), """
class TestService(TestCase):
    def setUp(self):
        self.load = Mock(return_value=1)
        self.log = Mock()
        self.service = Service(self.load, self.log)
    def test_a(self):
        self.assertEqual(self.service.get('a'), 2)
        self.load.assert_called_once_with('a')
        self.log.assert_called_once_with('got a')
    def test_b(self):
        self.load.return_value = [5]
        assert self.service.get('b') == [5, 5]
        self.load.return_value = 4
        self.assertEqual(self.service.get('c'), 8)
        self.assertEqual([c.args for c in self.load.call_args_list], [('b',), ('c',)])
        self.assertEqual(self.log.call_count, 2)
"""),
    Case("effects in turn", RETRY, ("at + 1 == times", "at + 2 == times"), """
@patch('time.sleep')
@patch('random.random', return_value=0.5)
def test_it(half, sleep):
    g = Mock(side_effect=[ConnectionError(), ConnectionError('no'), 'yes'])
    assert retry(g, 3) == 'yes'
    assert g.call_count == 3
    assert sleep.call_args_list == [call(0.5), call(0.5)]
    half.assert_not_called()
"""),
    Case("an effect that is an exception", RETRY, ("raise\n", "return None\n"), """
def test_it():
    with patch('solution.time.sleep') as sleep:
        g = Mock()
        g.side_effect = ConnectionError('down')
        with pytest.raises(ConnectionError):
            retry(g, 2, wait=7)
        sleep.assert_called_once_with(7)
"""),
    Case("what a user types", GAME, (".strip()", ".lower()"), """
def test_it(monkeypatch):
    monkeypatch.setattr('builtins.input', lambda _: ' Ann ')
    assert ask() == 'Ann'
def test_stdin(monkeypatch):
    import io
    monkeypatch.setattr('sys.stdin', io.StringIO(' Bob\\n'))
    assert ask() == 'Bob'
"""),
    Case("what a user types, later", GAME, ("return tries", "return 2"), """
@patch('builtins.input')
@patch('random.randint')
def test_it(randint, typed):
    randint.return_value = 2
    typed.side_effect = ['1', '2']
    assert guess() == 2
    typed.side_effect = ['9', '8', '7', '2']
    typed.reset_mock()
    assert guess() == 4
    assert typed.call_count == 4
"""),
    Case("what is printed", GAME, ("{tries} tries", "{tries} try"), """
import io
from io import StringIO
@patch('sys.stdout', new_callable=io.StringIO)
def test_a(out):
    with patch('builtins.input', return_value='4'), patch('random.randint', lambda a, b: 4):
        guess()
    assert out.getvalue() == '1 tries\\n'
def test_b():
    with patch('builtins.input', side_effect=['1', '2']), patch('random.randint', new=lambda a, b: 2), patch('sys.stdout', new=StringIO()) as out:
        guess()
        assert out.getvalue() == '2 tries\\n'
    with patch('sys.stdout', new_callable=StringIO) as out, patch('builtins.input', return_value=' x'):
        assert ask() == 'x'
        assert out.getvalue() == ''
"""),
    Case("a game", GAME, ("range(1, 10)", "range(10)"), """
def test_it(monkeypatch, capsys):
    answers = iter(['3', '7', '4'])
    monkeypatch.setattr(builtins, 'input', lambda prompt='': next(answers))
    monkeypatch.setattr(random, 'randint', lambda a, b: 4)
    assert guess() == 3
    assert capsys.readouterr().out.strip() == '3 tries'
@patch('builtins.print')
@patch('builtins.input', side_effect=['1', '9'])
@patch('random.randint', return_value=9)
def test_more(randint, typed, said):
    assert guess() == 2
    randint.assert_called_once_with(1, 10)
    said.assert_called_with('2 tries')
    typed.assert_has_calls([call('Number? '), call('Number? ')])
"""),
    Case("a function of the program, until the test ends", GAME, ("10 * helper(x)", "helper(10 * x)"), """
def test_a():
    with patch('solution.helper', return_value=5) as helper:
        assert both(2) == 50
        helper.return_value = 6
        assert both(2) == 60
    assert both(1) == 20
    assert helper.call_args_list == [call(2), call(2)]
def test_b():
    assert both(2) == 30
def test_c(monkeypatch):
    import solution
    monkeypatch.setattr(solution, 'helper', lambda x: -x)
    assert both(2) == -20
def test_d():
    with patch.object(Store, 'load', return_value=4) as load, patch('solution.both', return_value=1):
        assert Store().twice('a') == 8 and both(1) == 1
        load.assert_called_once_with('a')
def test_e(monkeypatch):
    monkeypatch.setattr(Store, 'load', lambda self, key: key)
    assert Store().twice('a') == 'aa'
"""),
    Case("what a class has, until the test ends", GAME, ("2 * self.load(key)", "self.load(key)"), """
def test_a():
    with patch.object(time, 'time', return_value=1.5):
        with patch('solution.Store.load') as load:
            load.return_value = 3
            assert Store().twice(7) == 6
    load.assert_called_with(7)
def test_b():
    with pytest.raises(KeyError):
        Store().twice('b')
"""),
]  # fmt: skip


def task_of(tests: str, program: str = GAME) -> CodeTask:
    names = [name for name in ("Events", "retry", "ask", "guess", "both", "Store", "Service") if f" {name}" in program]
    test = f"{HEAD}from solution import {', '.join(names)}\n{tests}"
    return human_eval({"prompt": "Write it.", "test": test, "canonical_solution": program})


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_is_judged_by_tests_with_mocks(docker_box: Sandbox, case: Case) -> None:
    require_judged(task_of(case.tests, case.program), case, docker_box)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("m = Mock()\n    f(m)\n    m.side_effect = [1]", "side_effect"),
        ("m = Mock(spec=int)", "spec=int"),
        ("m = patch(name)\n    assert m", "patch"),
        ("with patch(target='builtins.input'):\n        assert f(1) == 1", "target="),
        ("with patch(name):\n        assert f(1) == 1", "name"),
        ("with patch.object(f(1), 'x'):\n        assert f(1) == 1", "f(1)"),
        ("monkeypatch.setitem(A, 'a', 1)", "monkeypatch"),
        ("monkeypatch.setattr(f(1), 'b', 3)", "getattr(f(1), 'b')"),
        ("assert f(mock.ANY) == 1", "mock"),
    ],
)
def test_what_is_more_than_that_is_named(line: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"than is read|which is not read|may have") as raised:
        task_of(f"def test_it(monkeypatch):\n    {line}\n")
    assert words in str(raised.value)
