"""Tests that await: what they await of a program runs in its process, and they are judged as others are."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.shapes import human_eval, mbpp
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from tests.tasks.code.edited import Case, require_judged

FETCH = """\
import asyncio
async def fetch(n):
    await asyncio.sleep(0.001)
    if n < 0: raise ValueError(f"no {n}")
    return 2 * n
async def fill(found, n):
    for each in range(n):
        await asyncio.sleep(0)
        found.append(each)
async def count(n):
    for each in range(n):
        await asyncio.sleep(0)
        yield each
async def twice(n): return 2 * await fetch(n)
async def slow(): await asyncio.sleep(5)
async def retry(g, times):
    for _ in range(times):
        try: return await g() if asyncio.iscoroutinefunction(g) else g()
        except ConnectionError: await asyncio.sleep(0)
"""
POOL = """\
import asyncio
class Pool:
    def __init__(self, size):
        self.size, self.used, self.log = size, 0, []
        self.free = asyncio.Semaphore(size)
    async def __aenter__(self):
        self.log.append("open")
        return self
    async def __aexit__(self, *error): self.log.append("closed")
    async def take(self):
        await self.free.acquire()
        self.used += 1
        return self.used
    async def give(self):
        self.used -= 1
        self.free.release()
    async def many(self, n):
        async def one(k):
            await self.take()
            most = self.used
            await asyncio.sleep(0.001)
            await self.give()
            return most
        return max(await asyncio.gather(*map(one, range(n))))
"""
START = """\
class Ticker:
    def __init__(self): self.ticks, self.seen = 0, asyncio.Event()
    def start(self): self.task = asyncio.create_task(self._run())
    def stop(self): self.task.cancel()
    async def _run(self):
        while True:
            self.ticks += 1
            self.seen.set()
            await asyncio.sleep(0.005)
def both(n):
    async def twice(): return 2 * n
    return asyncio.run(twice())
"""
HEAD = "import asyncio\nimport pytest\nfrom unittest import IsolatedAsyncioTestCase\nfrom unittest.mock import AsyncMock, MagicMock, patch\nfrom solution import *\n"


CASES = [
    Case("functions", FETCH, ("2 * n", "3 * n"), """
@pytest.mark.asyncio
@pytest.mark.parametrize("n", [1, 2])
async def test_one(n):
    assert await fetch(n) == 2 * n
    with pytest.raises(ValueError, match="no -1"):
        await fetch(-1)
"""),
    Case("a loop of the tests' own", FETCH, ("each in range(n)", "each in range(n + 1)"), """
def test_it():
    found = []
    asyncio.run(fill(found, 3))
    assert found == [0, 1, 2]
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(fetch(4)) == 8
    loop.close()
"""),
    Case("several at once", FETCH, ("return 2 * n", "return n"), """
async def double(n):
    return 2 * await fetch(n)
async def main():
    assert await asyncio.gather(fetch(1), fetch(2)) == [2, 4]
    assert await asyncio.gather(*[fetch(n) for n in range(3)], return_exceptions=True) == [0, 2, 4]
    task = asyncio.create_task(fetch(5))
    await asyncio.sleep(0.01)
    assert await task == 10 and await double(1) == 4
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(slow(), timeout=0.01)
def test_it():
    asyncio.run(main())
"""),
    Case("generators", FETCH, ("yield each", "yield each + 1"), """
async def test_it():
    assert [n async for n in count(3)] == [0, 1, 2]
    found = []
    async for n in count(2):
        found.append(n)
    assert found == [0, 1]
"""),
    Case("an object", POOL, ("self.used += 1", "self.used += 2"), """
class TestPool(IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.pool = Pool(2)
    async def test_it(self):
        self.assertEqual(await self.pool.take(), 1)
        self.assertEqual(await self.pool.take(), 2)
        await self.pool.give()
        self.assertEqual(self.pool.used, 1)
"""),
    Case("a context", POOL, ('self.log.append("closed")', "pass"), """
@pytest.fixture
async def pool():
    pool = Pool(3)
    yield pool
async def test_it(pool):
    async with pool as other:
        assert other.log == ["open"]
        assert await other.many(7) == 3
    assert pool.log == ["open", "closed"]
"""),
    Case("what a call begins goes on", POOL + START, ("self.task.cancel()", "pass"), """
async def ticked():
    t = Ticker()
    t.start()
    await asyncio.sleep(0.02)
    t.stop()
    seen = t.ticks
    await asyncio.sleep(0.02)
    assert seen > 1 and t.ticks == seen
async def test_it():
    t = Ticker()
    t.start()
    await t.seen.wait()
    assert t.ticks == 1
    t.stop()
    await ticked()
def test_outside():
    with pytest.raises(RuntimeError):
        Ticker().start()
    asyncio.run(ticked())
    assert both(4) == 8
"""),
    Case("coroutines that are handed on", FETCH, ("for _ in range(times)", "for _ in range(1)"), """
calls = []
async def note(n):
    calls.append(n)
    await asyncio.sleep(0)
async def flaky():
    await note(len(calls))
    if len(calls) < 3:
        raise ConnectionError
    return "done"
async def test_it():
    calls.clear()
    assert await retry(flaky, 5) == "done"
    assert calls == [0, 1, 2]
    await note(7)
    assert calls[-1] == 7
"""),
    Case("mocks that are awaited", FETCH, ("except ConnectionError: await", "except ValueError: await"), """
async def test_a():
    g = AsyncMock(return_value=5)
    assert await retry(g, 2) == 5
    g.assert_awaited_once_with()
    assert g.await_count == 1 and g.call_count == 1
async def test_b():
    g = AsyncMock(side_effect=ConnectionError)
    assert await retry(g, 3) is None
    assert g.await_count == 3
async def test_c():
    with patch('solution.fetch', return_value=1) as one:
        assert await twice(4) == 2
    one.assert_awaited_with(4)
    with patch('solution.fetch', new_callable=AsyncMock) as other:
        other.return_value = 10
        assert await twice(4) == 20
    assert await twice(4) == 16
"""),
    Case("a callback", FETCH, ("except ConnectionError", "except ZeroDivisionError"), """
async def test_it():
    calls = []
    def g():
        calls.append(1)
        if len(calls) < 3: raise ConnectionError
        return "done"
    assert await retry(g, 5) == "done"
    assert len(calls) == 3
"""),
]  # fmt: skip


def task_of(tests: str, program: str) -> CodeTask:
    return human_eval({"prompt": "Write it.", "test": HEAD + tests, "canonical_solution": program})


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_is_judged_by_tests_that_await(docker_box: Sandbox, case: Case) -> None:
    require_judged(task_of(case.tests, case.program), case, docker_box)


@pytest.mark.docker
def test_a_coroutine_that_is_not_awaited_is_no_result(docker_box: Sandbox) -> None:
    task = task_of("async def test_it():\n    assert fetch(2) == 4\n", FETCH)
    plain = FETCH.replace("async def fetch(n):\n    await asyncio.sleep(0.001)", "def fetch(n):")
    outcomes = judge([task] * 2, [FETCH, plain], docker_box, Terms(Relative(0.25)))
    assert [outcome.passed for outcome in outcomes] == [False, True]


@pytest.mark.docker
def test_asserts_alone_say_what_is_called(docker_box: Sandbox) -> None:
    record = {
        "text": "Write it.",
        "test_list": ["assert asyncio.run(fetch(2)) == 4"],
        "test_imports": ["import asyncio"],
    }
    task = mbpp(record | {"code": FETCH})
    assert "fetch(2)" in str(task.prompt) and "_awaited" not in str(task.prompt)
    outcomes = judge([task] * 2, [FETCH, FETCH.replace("2 * n", "n")], docker_box, Terms(Relative(0.25)))
    assert [outcome.passed for outcome in outcomes] == [True, False]


def test_what_is_called_run_is_no_loop() -> None:
    program = "class Machine:\n    def run(self, n): return n\n"
    task = task_of(
        "def test_it():\n    machine = Machine()\n    assert machine.run(1) == 1 and machine.run(2) == 2\n", program
    )
    assert "_awaited" not in task.tests.code


OWN = "async def test_it():\n    "
CLASS = "class TestIt(IsolatedAsyncioTestCase):\n    def setUp(self):\n        self.n = 1\n    async def asyncSetUp(self):\n        self.n = 2\n"


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (f"{OWN}async with asyncio.timeout(1):\n        assert await fetch(1) == 2", "asyncio.timeout"),
        (f"{OWN}await asyncio.gather(test_it())\n    assert await fetch(1) == 2", "test_it"),
        (f"{CLASS}    async def test_it(self):\n        assert await fetch(1) == self.n", "asyncSetUp and setUp"),
        (
            "class TestIt(IsolatedAsyncioTestCase):\n    async def own(self): pass\n    async def test_it(self):\n        assert await retry(self.own, 2)",
            "self.own",
        ),
    ],
)
def test_what_needs_a_loop_of_their_own_is_named(tests: str, words: str) -> None:
    with pytest.raises(ValueError, match="which is not read") as raised:
        task_of(tests, FETCH)
    assert words in str(raised.value)
