"""In order, exactly once, whatever a container does: the pool over containers that misbehave on command."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from kolmocli.errors import CheckError
from kolmocli.sandbox import Job, Limits, Retries, Status, Verdict
from kolmocli.sandbox.pool.pool import Pool
from kolmocli.sandbox.pool.queue import Batch, QueuedJob, pick

from .fake_links import FakeLink, FakeMaker

QUICK = Retries(silence_s=0.2, drought_s=0.6, attempts=6)
LIMITS = Limits(wall_ms=50)


@contextmanager
def pool(maker: FakeMaker, workers: int = 2, retries: Retries = QUICK, window: int = 8) -> Iterator[Pool]:
    opened = Pool("fake", maker, LIMITS, workers, window, retries)
    try:
        yield opened
    finally:
        opened.close()


def statuses(verdicts: list[Verdict]) -> list[Status]:
    return [v.status for v in verdicts]


def test_an_empty_batch_is_done_at_once() -> None:
    with pool(FakeMaker()) as p:
        assert p.run([]) == []


def test_many_batches_keep_their_order() -> None:
    with pool(FakeMaker(), workers=3) as p:
        futures = [p.submit([Job(f"p{b}.{i}") for i in range(50)]) for b in range(20)]
        assert all(statuses(f.result()) == [Status.OK] * 50 for f in futures)
        assert p.health().executed == 1000
        assert p.health().replaced == 0


def test_what_ends_two_containers_alone_is_poison_and_its_neighbours_are_not() -> None:
    with pool(FakeMaker()) as p:
        jobs = [Job("die" if i == 10 else "fine") for i in range(40)]
        got = p.run(jobs)
        assert statuses(got) == [Status.POISON if i == 10 else Status.OK for i in range(40)]
        assert (got[10].detail, got[10].attempt) == ("ended 2 containers alone", 3)  # the first time in company


def test_containers_that_others_remove_never_make_poison() -> None:
    with pool(FakeMaker()) as p:
        verdict = p.run([Job("lost")])[0]
        assert (verdict.status, verdict.attempt) == (Status.INFRA, QUICK.attempts)
        assert p.health().infra == 1


@pytest.mark.parametrize("program", ["garble", "strange", "silent"])
def test_a_container_that_is_not_itself_is_replaced(program: str) -> None:
    with pool(FakeMaker()) as p:
        got = p.run([Job("a"), Job(program), Job("b")])
        assert statuses(got) == [Status.OK, Status.INFRA, Status.OK]
        assert p.health().replaced >= 1
        assert p.run([Job("c")])[0].status is Status.OK


@pytest.mark.parametrize("program", ["garble", "strange"])
def test_who_answers_wrongly_is_not_waited_for(program: str) -> None:
    """Only silence is."""
    with pool(FakeMaker(), retries=Retries(silence_s=600, attempts=2)) as p:
        assert statuses(p.submit([Job(program)]).result(30)) == [Status.INFRA]


def test_an_answer_counts_once() -> None:
    with pool(FakeMaker(), workers=1) as p:
        got = p.run([Job("twice"), Job("a"), Job("b")])
        assert statuses(got) == [Status.OK] * 3
        assert (p.health().executed, p.health().statuses) == (3, {"OK": 3})


def test_a_starved_program_runs_again_alone_and_is_judged_in_the_end() -> None:
    maker = FakeMaker()
    with pool(maker) as p:
        got = p.run([Job("a"), Job("starved"), Job("b")])
        assert statuses(got) == [Status.OK, Status.TLE_WALL, Status.OK]
        assert (got[1].attempt, p.health().infra, p.health().replaced) == (QUICK.starved_runs, 0, 0)
    assert sum(link.ran.count("starved") for link in maker.links) == QUICK.starved_runs


def test_random_faults_lose_and_double_nothing() -> None:
    randomly = random.Random(7)
    programs = [randomly.choice(["fine"] * 60 + ["die", "lost", "garble"]) for _ in range(600)]
    with pool(FakeMaker(), workers=3) as p:
        got = p.run([Job(program) for program in programs])
    expected = {"fine": {Status.OK}, "die": {Status.POISON}, "lost": {Status.INFRA}, "garble": {Status.INFRA}}
    assert all(v.status in expected[program] for program, v in zip(programs, got, strict=True))


def test_makes_that_fail_are_tried_again() -> None:
    with pool(FakeMaker(failures=2), workers=2) as p:
        assert statuses(p.run([Job("die"), Job("fine")])) == [Status.POISON, Status.OK]


def test_without_any_container_waiting_programs_become_infra() -> None:
    with pool(FakeMaker(failures=10**6), workers=1) as p:
        assert statuses(p.run([Job("lost"), Job("fine")])) == [Status.INFRA] * 2


def test_a_broken_promise_of_the_first_container_refuses_the_pool() -> None:
    with pytest.raises(CheckError), pool(FakeMaker(refuse=0)):
        pass


def test_a_broken_promise_of_a_later_container_stops_everything() -> None:
    with pool(FakeMaker(refuse=1), workers=1) as p:
        with pytest.raises(CheckError):
            p.run([Job("lost"), Job("fine")])
        with pytest.raises(CheckError):
            p.run([Job("fine")])


def test_closing_cancels_what_waits() -> None:
    opened = Pool("fake", FakeMaker(), LIMITS, 1, 8, Retries(silence_s=60))
    future: Future[list[Verdict]] = opened.submit([Job("silent"), Job("fine")])
    opened.close()
    opened.close()
    assert future.result(5)[0].status is Status.CANCELLED


def test_a_closed_pool_takes_nothing_more() -> None:
    with pool(FakeMaker()) as p:
        assert statuses(p.run([Job("fine")])) == [Status.OK]
    with pytest.raises(RuntimeError, match="closed"):
        p.submit([Job("fine")])


def test_a_batch_that_was_started_cannot_be_called_back() -> None:
    with pool(FakeMaker()) as p:
        future = p.submit([Job("fine")] * 50)
        assert not future.cancel()
        assert statuses(future.result(5)) == [Status.OK] * 50


class Defect(Exception):
    """Nothing in the pool expects it."""


@pytest.mark.parametrize("place", ["receive", "end"])
def test_a_defect_reaches_whoever_waits(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """It must not end the pool's thread, or a hand, in silence: the batch would wait for ever."""

    def fail(self: object, *links: FakeLink) -> None:
        for link in links:
            link.close()
        raise Defect

    with pool(FakeMaker()) as p:
        assert statuses(p.run([Job("fine")])) == [Status.OK]
        with monkeypatch.context() as patch:
            patch.setattr(*((FakeLink, "receive", fail) if place == "receive" else (FakeMaker, "end", fail)))
            waiting = [p.submit([Job("die")] * 3), p.submit([Job("fine")] * 3)]
            with pytest.raises(Defect):
                waiting[0].result(5)
        with pytest.raises(Defect):
            p.run([Job("fine")])


def test_time_without_programs_is_not_busy() -> None:
    with pool(FakeMaker()) as p:
        p.run([])
        p.run([Job("fine")])
        busy = p.health().busy_seconds
        time.sleep(0.1)
        p.run([])
        p.run([Job("fine")])
        assert 0 < busy <= p.health().busy_seconds < busy + 0.1


def test_one_group_is_never_back_to_back_in_one_container() -> None:
    maker = FakeMaker()
    with pool(maker, workers=2) as p:
        p.run([Job(f"group {i // 8}", group=i // 8 + 1) for i in range(200)])
        p.run([Job("group 99", group=99) for _ in range(30)])
    for link in maker.links:
        pairs = zip(link.ran, link.ran[1:], strict=False)
        assert not [a for a, b in pairs if a == b and a.startswith("group")]


def test_a_container_takes_what_it_may_run_and_rather_of_another_group() -> None:
    batch = Batch(Future(), [], 0)

    def waiting(*jobs: Job) -> deque[QueuedJob]:
        return deque(QueuedJob(batch, i, job, LIMITS, b"") for i, job in enumerate(jobs))

    queue = waiting(Job("a", group=1), Job("b", group=1, avoid="here"), Job("c", group=2, avoid="here"), Job("d"))
    taken = [pick(queue, "here", 1) for _ in range(3)]
    assert [item and item.job.program for item in taken] == ["d", "a", None]
    assert [item.job.program for item in queue] == ["b", "c"]
    there = [pick(queue, "there", 1) for _ in range(3)]
    assert [item and item.job.program for item in there] == ["c", "b", None]


def test_a_winner_is_confirmed_elsewhere() -> None:
    with pool(FakeMaker(), workers=2) as p:
        first = p.run([Job(f"p{i}") for i in range(20)])
        again = p.run([Job(f"p{i}", avoid=v.container) for i, v in enumerate(first)])
        assert all(a.container != b.container for a, b in zip(first, again, strict=True))


def test_even_the_only_container_can_be_avoided() -> None:
    with pool(FakeMaker(), workers=1) as p:
        first = p.run([Job("p")])[0]
        again = p.run([Job("p", avoid=first.container)])[0]
        assert again.status is Status.OK
        assert again.container != first.container


def test_containers_are_renewed_while_work_goes_on() -> None:
    maker = FakeMaker()
    with pool(maker, workers=2, retries=Retries(renew_programs=50)) as p:
        assert set(statuses(p.run([Job("slow") for _ in range(1000)]))) == {Status.OK}  # others are made meanwhile
    assert len(maker.links) > 4
    assert max(len(link.ran) for link in maker.links) < 50 * 8


def test_a_silent_engine_is_waited_for_and_no_program_is_blamed() -> None:
    """`answers` takes long, as behind a stopped daemon: the silent container is then given time, not thrown away."""
    maker = FakeMaker(answer_s=1.2)
    with pool(maker, workers=1) as p:
        future = p.submit([Job("silent")])
        with pytest.raises(TimeoutError):
            future.result(1.4)
        assert p.health().replaced == 0
