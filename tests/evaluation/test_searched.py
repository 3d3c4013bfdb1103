"""A search as a baseline: its programs count as a policy's would, and nothing is searched for unless it is asked for."""

from __future__ import annotations

from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.report import PLAIN, Reporting, full_report
from kolmocli.evaluation.searched import search_baseline
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import parse
from kolmocli.sandbox.base import Status
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

RAMP = tuple(range(40))
NOISE = (201, 3, 77, 150, 9, 254, 31, 88, 120, 64, 199, 18)


def task(target: tuple[int, ...]) -> SequenceTask:
    return sequence_task(Bucket("any", 1), 0, target)


def test_shares_of_raw_by_hand() -> None:
    ramp = coded_bits(parse("sequence_1 = range_func_up(0, 39)"))
    found = search_baseline([task(RAMP), task(RAMP)], 0.2)
    assert found == {"per_block": 2 * ramp / (2 * 320), "solid": (2 * ramp + 2) / (2 * 320)}


def test_a_literal_costs_what_it_costs_alone_and_goes_to_the_codec_in_the_whole() -> None:
    found = search_baseline([task(NOISE)], 0.05)
    assert found == {"per_block": literal_bits(NOISE) / 96, "solid": (96 + 1) / 96}


def test_what_the_language_cannot_write_has_no_bits_of_its_own() -> None:
    found = search_baseline([task((10**18,) * 30)], 0.05)
    assert found["per_block"] is None
    assert found["solid"] is not None


def test_no_task_no_share() -> None:
    assert search_baseline([], 0.05) == {"per_block": None, "solid": None}


def test_the_report_has_it_only_where_it_was_asked_for() -> None:
    attempts = [(task(RAMP), [Outcome("…", 1, False, Status.OK, 0.0, True)])]
    assert "search" not in full_report(attempts, 1, "dsl", PLAIN)["baselines"]
    report = full_report(attempts, 1, "dsl", Reporting(search=0.1))
    assert report["search_seconds"] == 0.1
    assert report["baselines"]["search"]["solid"] < report["compression_rate"]
